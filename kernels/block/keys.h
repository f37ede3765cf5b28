// The kernels that expand keys, a lane a key. The file of a cipher defines BLOCK_CIPHER,
// BLOCK_SCHEDULE_WORDS and BLOCK_EXPAND(key, schedule, step, key_words, inverse), which
// writes words of a schedule four side by side, and `step` from four to four.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/layout.h"
#include "kernels/block/names.h"

#define BLOCK_FORM expand

#define BLOCK_FOR_EACH_KEY                                        \
  for (u32 k = group_id() * group_lanes() + lane_id(); k < count; \
       k += group_count() * group_lanes())

// keys: count raw keys of BLOCK_KEY_WORDS; schedules: count of
// BLOCK_SCHEDULE_WORDS. key_words is 4, 6 or 8; the first `inverse` keys are for
// decryption.
KERNEL(BLOCK_NAME(keys), BLOCK_KEY_LANES)
(GLOBAL const u32 *keys, GLOBAL u32 *schedules, u32 count, u32 key_words, u32 inverse) {
  BLOCK_FOR_EACH_KEY
  BLOCK_EXPAND(keys + (u64)k * BLOCK_KEY_WORDS, schedules + (u64)k * BLOCK_SCHEDULE_WORDS, 4,
               key_words, k < inverse);
}

// The same, for encryption, to lie as lanes with a stream each read them.
KERNEL(BLOCK_NAME(stream_keys), BLOCK_KEY_LANES)
(GLOBAL const u32 *keys, GLOBAL u32 *schedules, u32 count, u32 key_words) {
  BLOCK_FOR_EACH_KEY
  BLOCK_EXPAND(keys + (u64)k * BLOCK_KEY_WORDS, schedules + BLOCK_STREAM_KEY_WORD(k),
               BLOCK_STREAM_KEY_STEP, key_words, 0);
}

#undef BLOCK_FOR_EACH_KEY
#undef BLOCK_FORM
#undef BLOCK_CIPHER
#undef BLOCK_SCHEDULE_WORDS
#undef BLOCK_EXPAND
