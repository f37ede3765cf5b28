// Every mode in a table form of a cipher; see form.h.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/table/modes.h"

#include "kernels/block/table/ctr.h"

#include "kernels/block/table/xts.h"

#ifndef BLOCK_KEY_SLOT
#include "kernels/block/table/ccm.h"
#include "kernels/block/table/feedback.h"
#endif

#undef BLOCK_CIPHER
#undef BLOCK_SCHEDULE_WORDS
#undef BLOCK_TABLE_WORD
#undef BLOCK_TABLE_PART
#undef BLOCK_WINDOW
#undef BLOCK_FORM
#undef BLOCK_LANES
#undef BLOCK_XTS_LANES
#undef BLOCK_COPY
#undef BLOCK_LOOK
#undef BLOCK_LOOK_S
#undef BLOCK_ROUND_KEY
#undef BLOCK_LOOK0
#undef BLOCK_LOOK1
#undef BLOCK_LOOK2
#undef BLOCK_LOOK3
#undef BLOCK_TILE_PARAMETERS
#undef BLOCK_FOR_EACH_TILE
#undef BLOCK_TILE_PIECE
