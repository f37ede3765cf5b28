// SM4 key expansion (GB/T 32907-2016, 7.3), one thread per key. The S-box consists of gates, so no
// address depends on a key. Kernels use words as they lie in memory, but the standard counts a
// word's bytes from the most significant; so the bytes of each round key are swapped. Decryption is
// encryption with the round keys in reverse.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/ciphers.h"
#include "kernels/sm4/sm4_sbox.h"

// The nonlinear transformation tau (GB/T 32907-2016, 6.2): the S-box of each byte.
FN u32 sm4_sub_word(u32 word) {
  u32 planes[8], result = 0;
  UNROLL for (int i = 0; i < 8; ++i) planes[i] = word >> (7 - i);
  sm4_sbox_planes(planes);
  UNROLL for (int i = 0; i < 8; ++i) result |= (planes[i] & 0x01010101u) << (7 - i);
  return result;
}

// Key expansion (GB/T 32907-2016, 7.3).
FN void sm4_expand(GLOBAL const u32 *key, GLOBAL u32 *schedule, u32 step, u32 key_words,
                   u32 inverse) {
  u32 k[4] = {SWAP_BYTES(key[0]) ^ 0xa3b1bac6u, SWAP_BYTES(key[1]) ^ 0x56aa3350u,
              SWAP_BYTES(key[2]) ^ 0x677d9197u, SWAP_BYTES(key[3]) ^ 0xb27022dcu};
  u32 ck = 0x00070e15u;  // CK of the round; its bytes are multiples of 7
  ROLLED for (u32 four = 0; four < 8; ++four) {
    UNROLL for (u32 n = 0; n < 4; ++n) {
      const u32 s = sm4_sub_word(k[(n + 1) & 3] ^ k[(n + 2) & 3] ^ k[(n + 3) & 3] ^ ck);
      k[n] ^= s ^ ROTATE_LEFT(s, 13) ^ ROTATE_LEFT(s, 23);
      // Adds 28 to each byte.
      ck = ((ck & 0x7f7f7f7fu) + 0x1c1c1c1cu) ^ (ck & 0x80808080u);
      schedule[inverse ? step * (7 - four) + 3 - n : step * four + n] = SWAP_BYTES(k[n]);
    }
  }
}

#define BLOCK_CIPHER sm4
#define BLOCK_SCHEDULE_WORDS SM4_SCHEDULE_WORDS
#define BLOCK_EXPAND sm4_expand
#include "kernels/block/keys.inc"
