// AES key expansion (FIPS 197, 5.2; for decryption 5.3.5), one thread per key. The S-box consists
// of gates, so no address depends on a key.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aes/aes_word.h"
#include "kernels/block/ciphers.h"

// KeyExpansion (FIPS 197, 5.2), or if `inverse` KeyExpansionEIC (5.3.5), of one key. `key_words` is
// a compile-time constant, so that `recent` stays in registers. Round keys are `step` words apart;
// for decryption they are stored in reverse order.
FN void aes_expand_of(GLOBAL const u32 *key, GLOBAL u32 *schedule, u32 step, const u32 key_words,
                      u32 inverse) {
  const u32 rounds = key_words + 6, words = 4 * (rounds + 1);
  u32 recent[8];
  UNROLL for (u32 n = 0; n < key_words; ++n) recent[n] = key[n];
  u32 round_constant = 1;
  ROLLED for (u32 first = 0; first < words; first += key_words) {
    if (first != 0) {
      recent[0] ^= aes_sub_word(ROTATE_LEFT(recent[key_words - 1], 24)) ^ round_constant;
      round_constant = aes_times_x(round_constant);
      UNROLL for (u32 n = 1; n < key_words; ++n) {
        recent[n] ^= key_words == 8 && n == 4 ? aes_sub_word(recent[3]) : recent[n - 1];
      }
    }
    UNROLL for (u32 n = 0; n < key_words; ++n) {
      const u32 round = (first + n) / 4, place = (first + n) % 4;
      if (round > rounds) continue;
      if (!inverse) {
        schedule[step * round + place] = recent[n];
      } else {
        const u32 outer = round == 0 || round == rounds;
        schedule[step * (rounds - round) + place] =
            outer ? recent[n] : aes_inverse_mix_column(recent[n]);
      }
    }
  }
}

FN void aes_expand(GLOBAL const u32 *key, GLOBAL u32 *schedule, u32 step, u32 key_words,
                   u32 inverse) {
  if (key_words == 4) {
    aes_expand_of(key, schedule, step, 4, inverse);
  } else if (key_words == 6) {
    aes_expand_of(key, schedule, step, 6, inverse);
  } else {
    aes_expand_of(key, schedule, step, 8, inverse);
  }
}

#define BLOCK_CIPHER aes
#define BLOCK_SCHEDULE_WORDS AES_SCHEDULE_WORDS
#define BLOCK_EXPAND aes_expand
#include "kernels/block/keys.inc"
