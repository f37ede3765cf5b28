// AES key expansion (FIPS 197, 5.2 and 5.3.5), a lane a key. The S-box is made
// of gates, so no address depends on a key.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aes_layout.h"
#include "aes_word.h"

// One key; round keys `step` words apart.
FN void aes_expand(GLOBAL const u32 *key, GLOBAL u32 *schedule, u32 step, u32 key_words,
                   u32 inverse) {
  const u32 rounds = key_words + 6;
  u32 recent[8];
  for (u32 i = 0; i < 8; ++i) recent[i] = i < key_words ? key[i] : 0;
  u32 round_constant = 1;
  u32 at = 0;  // i modulo key_words: recent[at] is word i - key_words
  for (u32 i = 0; i < 4 * (rounds + 1); ++i) {
    u32 word = recent[at];
    if (i >= key_words) {
      u32 last = recent[at == 0 ? key_words - 1 : at - 1];
      if (at == 0) {
        last = aes_sub_word(ROTATE_LEFT(last, 24)) ^ round_constant;
        round_constant = aes_times_x(round_constant);
      } else if (key_words == 8 && at == 4) {
        last = aes_sub_word(last);
      }
      word ^= last;
      recent[at] = word;
    }
    at = at + 1 == key_words ? 0 : at + 1;
    const u32 round = i / 4;
    if (!inverse) {
      schedule[step * round + i % 4] = word;
    } else {
      const u32 outer = round == 0 || round == rounds;
      schedule[step * (rounds - round) + i % 4] = outer ? word : aes_inverse_mix_column(word);
    }
  }
}

#define AES_FOR_EACH_KEY                                          \
  for (u32 k = group_id() * group_lanes() + lane_id(); k < count; \
       k += group_count() * group_lanes())

// keys: count raw keys of AES_KEY_WORDS; schedules: count of
// AES_SCHEDULE_WORDS. key_words is 4, 6 or 8; the first `inverse` keys are for
// decryption.
KERNEL(aes_expand_keys, AES_KEY_LANES)
(GLOBAL const u32 *keys, GLOBAL u32 *schedules, u32 count, u32 key_words, u32 inverse) {
  AES_FOR_EACH_KEY
  aes_expand(keys + (u64)k * AES_KEY_WORDS, schedules + (u64)k * AES_SCHEDULE_WORDS, 4, key_words,
             k < inverse);
}

// The same, for encryption, to lie as lanes with a stream each read them.
KERNEL(aes_expand_stream_keys, AES_KEY_LANES)
(GLOBAL const u32 *keys, GLOBAL u32 *schedules, u32 count, u32 key_words) {
  AES_FOR_EACH_KEY
  aes_expand(keys + (u64)k * AES_KEY_WORDS, schedules + AES_STREAM_KEY_WORD(k), AES_STREAM_KEY_STEP,
             key_words, 0);
}

#undef AES_FOR_EACH_KEY
