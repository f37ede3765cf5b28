// Every mode in the bitsliced form of a cipher; see form.h.
//
// SPDX-License-Identifier: Apache-2.0

#ifndef BLOCK_KEY_SLOT
#include "kernels/block/bitslice/ccm.h"
#include "kernels/block/bitslice/chains.h"
#include "kernels/block/bitslice/feedback.h"
#include "kernels/block/bitslice/xts.h"
#endif
#include "kernels/block/bitslice/modes.h"

#undef BLOCK_FORM
#undef BLOCK_ROUND_KEY
#undef BLOCK_CIPHER
#undef BLOCK_SCHEDULE_WORDS
#undef BLOCK_PLANE_WORDS
#undef BLOCK_USED_WORDS
#undef BLOCK_FIRST_ROUND
#undef BLOCK_SLICED_WINDOW
