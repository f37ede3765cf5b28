// CTR over bit planes; included by kernels.h for each cipher.
//
// SPDX-License-Identifier: Apache-2.0

#define BLOCK_CTR_NAME BLOCK_NAME(ctr)
#define BLOCK_CTR_LOCAL
#define BLOCK_CTR_BEGIN
#define BLOCK_CTR_ALIGNED block_aligned(in, out)
#define BLOCK_CTR_STORE slice_store(out, state, in, &lane, BLOCK_MODE_CTR, piece);
#include "kernels/block/bitslice/ctr_rows.h"
#undef BLOCK_CTR_NAME
#undef BLOCK_CTR_LOCAL
#undef BLOCK_CTR_BEGIN
#undef BLOCK_CTR_ALIGNED
#undef BLOCK_CTR_STORE

#ifdef BLOCK_SLICED_ACROSS
// For texts at any address.
#define BLOCK_CTR_NAME BLOCK_NAME(ctr_across)
#define BLOCK_CTR_LOCAL SHARED_PARAMETER
#define BLOCK_CTR_BEGIN SHARED_WORDS(scratch);
#define BLOCK_CTR_ALIGNED 1
#define BLOCK_CTR_STORE slice_xor_across(out, state, in, &lane, scratch);
#include "kernels/block/bitslice/ctr_rows.h"
#undef BLOCK_CTR_NAME
#undef BLOCK_CTR_LOCAL
#undef BLOCK_CTR_BEGIN
#undef BLOCK_CTR_ALIGNED
#undef BLOCK_CTR_STORE
#endif
