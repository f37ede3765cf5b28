// Every mode that a cipher has, in a table form; see form.h.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/table/modes.h"

#include "kernels/block/table/cbc_encrypt.h"
#include "kernels/block/table/ctr.h"

#ifdef BLOCK_ACROSS
#include "kernels/block/table/across.h"
#endif

#if BLOCK_MODES & BLOCK_HAS_XTS
#define BLOCK_XTS_NAME(name) BLOCK_NAME(xts_##name)
#define BLOCK_XTS_TWEAK(tweak) (tweak)
#include "kernels/block/table/xts.h"
#endif
#if BLOCK_MODES & BLOCK_HAS_XTS_GB
#define BLOCK_XTS_NAME(name) BLOCK_NAME(xts_gb_##name)
#define BLOCK_XTS_TWEAK(tweak) xts_turn_bytes(tweak)
#include "kernels/block/table/xts.h"
#endif

#ifndef BLOCK_KEY_SLOT
#if BLOCK_MODES & BLOCK_HAS_CCM
#include "kernels/block/table/ccm.h"
#endif
#include "kernels/block/table/feedback.h"
#if BLOCK_MODES & BLOCK_HAS_STEALING
#include "kernels/block/table/stealing.h"
#endif
#endif

#undef BLOCK_CIPHER
#undef BLOCK_SCHEDULE_WORDS
#undef BLOCK_MODES
#undef BLOCK_TABLE_WORD
#undef BLOCK_TABLE_PART
#undef BLOCK_WINDOW
#undef BLOCK_FORM
#undef BLOCK_ACROSS
#undef BLOCK_ACROSS_REGISTERS
#undef BLOCK_ACROSS_XTS_KERNEL
#undef BLOCK_LANES
#undef BLOCK_XTS_LANES
#undef BLOCK_COPY
#undef BLOCK_LOOK
#undef BLOCK_SCRATCH
#undef BLOCK_LOOK_S
#undef BLOCK_ROUND_KEY
#undef BLOCK_LOOK0
#undef BLOCK_LOOK1
#undef BLOCK_LOOK2
#undef BLOCK_LOOK3
#undef BLOCK_TILE_PARAMETERS
#undef BLOCK_FOR_EACH_TILE
#undef BLOCK_TILE_PIECE
