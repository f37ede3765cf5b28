// Every mode that a cipher has, in the bitsliced form; see form.h.
//
// SPDX-License-Identifier: Apache-2.0

// Beside tables of the key slot, ECB and CTR take texts at any address where the cipher gains by
// such company.
#if defined(BLOCK_KEY_SLOT) && defined(BLOCK_SLICED_WINDOW) && defined(HAS_WORD_OF_LANE)
#define BLOCK_SLICED_ACROSS
#endif

#ifndef BLOCK_KEY_SLOT
#include "kernels/block/bitslice/chains.h"
#include "kernels/block/bitslice/feedback.h"
#if BLOCK_MODES & BLOCK_HAS_STEALING
#include "kernels/block/bitslice/stealing.h"
#endif
#if BLOCK_MODES & BLOCK_HAS_CCM
#include "kernels/block/bitslice/ccm.h"
#endif
#if BLOCK_MODES & BLOCK_HAS_XTS
#define BLOCK_XTS_NAME(name) BLOCK_NAME(xts_##name)
#define BLOCK_XTS_TWEAK(tweak) (tweak)
#include "kernels/block/bitslice/xts.h"
#endif
#if BLOCK_MODES & BLOCK_HAS_XTS_GB
#define BLOCK_XTS_NAME(name) BLOCK_NAME(xts_gb_##name)
#define BLOCK_XTS_TWEAK(tweak) xts_turn_bytes(tweak)
#include "kernels/block/bitslice/xts.h"
#endif
#endif
#include "kernels/block/bitslice/modes.h"

#include "kernels/block/bitslice/ctr.h"

#undef BLOCK_FORM
#undef BLOCK_ROUND_KEY
#undef BLOCK_CIPHER
#undef BLOCK_SCHEDULE_WORDS
#undef BLOCK_MODES
#undef BLOCK_PLANE_WORDS
#undef BLOCK_USED_WORDS
#undef BLOCK_FIRST_ROUND
#undef BLOCK_SLICED_WINDOW
#undef BLOCK_SLICED_NO_WINDOW
#undef BLOCK_SLICED_ACROSS
