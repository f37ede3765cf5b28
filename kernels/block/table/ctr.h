// CTR over tables; included by kernels.h for each form of a cipher. Its counters are
// taken by windows: see layout.h.
//
// SPDX-License-Identifier: Apache-2.0

#define BLOCK_CTR_NAME BLOCK_NAME(ctr)
#define BLOCK_CTR_MAY_TAKE(aligned) aligned
#define BLOCK_CTR_ROW(from, to)                                               \
  UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {                       \
    data[n] = load_block((from) + 16 * (n * TEAM_LANES));                     \
  }                                                                           \
  UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {                       \
    store_block((to) + 16 * (n * TEAM_LANES), block_xor(blocks[n], data[n])); \
  }
#include "kernels/block/table/ctr_rows.h"
#undef BLOCK_CTR_NAME
#undef BLOCK_CTR_MAY_TAKE
#undef BLOCK_CTR_ROW

#ifdef BLOCK_KEY_SLOT
// For texts at any address. With a team of 32 lanes, as where there are key slots.
#include "kernels/block/across.h"
#define BLOCK_CTR_NAME BLOCK_NAME(ctr_across)
#define BLOCK_CTR_MAY_TAKE(aligned) 1
#define BLOCK_CTR_ROW(from, to)                                                                \
  across_load(data, BLOCK_TABLE_BLOCKS, from, tables);                                         \
  UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) data[n] = block_xor(blocks[n], data[n]); \
  across_store(to, data, BLOCK_TABLE_BLOCKS, tables)
#include "kernels/block/table/ctr_rows.h"
#undef BLOCK_CTR_NAME
#undef BLOCK_CTR_MAY_TAKE
#undef BLOCK_CTR_ROW
#endif
