// SM4 without tables; see kernels/block/bitslice/form.h. `rounds` counts by fours.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/bitslice/planes.h"
#include "kernels/sm4/sm4_sbox.h"

#ifndef LC_KERNELS_SM4_BITSLICE
#define LC_KERNELS_SM4_BITSLICE

// The plane of bit `bit`, counted from the least significant, of a word of the standard,
// whose first byte is the most significant.
#define SM4_PLANE(bit) (8 * (3 - ((bit)&31) / 8) + (bit) % 8)

// Adds T (GB/T 32907-2016, 6.2) of the planes t of a word, which it overwrites, to those of x.
FN void sm4_planes_add_t(u32 *x, u32 *t) {
  UNROLL for (u32 byte = 0; byte < 4; ++byte) {
    u32 s[8];
    UNROLL for (u32 j = 0; j < 8; ++j) s[j] = t[8 * byte + 7 - j];
    sm4_sbox_planes(s);
    UNROLL for (u32 j = 0; j < 8; ++j) t[8 * byte + 7 - j] = s[j];
  }
  UNROLL for (u32 bit = 0; bit < 32; ++bit) {
    const u32 most = LUT3(t[SM4_PLANE(bit)], t[SM4_PLANE(bit + 30)], t[SM4_PLANE(bit + 22)], 0x96);
    x[SM4_PLANE(bit)] ^= LUT3(most, t[SM4_PLANE(bit + 14)], t[SM4_PLANE(bit + 8)], 0x96);
  }
}

// The words of a block in reverse, as the last four rounds leave them.
FN void sm4_planes_reverse(u32 *state) {
  UNROLL for (u32 i = 0; i < 64; ++i) {
    const u32 other = (96 - i / 32 * 32) + i % 32, word = state[i];
    state[i] = state[other];
    state[other] = word;
  }
}

FN void sm4_planes_cipher(u32 *state, GLOBAL const u32 *planes, u32 rounds) {
  block_transpose_state(state);
  for (u32 round = 0; round < rounds; ++round) {
    UNROLL for (u32 i = 0; i < 4; ++i) {
      u32 t[32];
      UNROLL for (u32 j = 0; j < 32; j += 4) {
        const Block key = load_block((GLOBAL const u8 *)(planes + 128 * round + 32 * i + j));
        UNROLL for (u32 k = 0; k < 4; ++k) {
          t[j + k] = LUT3(state[32 * ((i + 1) & 3) + j + k], state[32 * ((i + 2) & 3) + j + k],
                          state[32 * ((i + 3) & 3) + j + k], 0x96) ^
                     key.w[k];
        }
      }
      sm4_planes_add_t(state + 32 * i, t);
    }
  }
  sm4_planes_reverse(state);
  block_transpose_state(state);
}

#endif

#define BLOCK_CIPHER sm4
#define BLOCK_SCHEDULE_WORDS SM4_SCHEDULE_WORDS
#define BLOCK_MODES SM4_MODES
#define BLOCK_PLANE_WORDS SM4_PLANE_WORDS
#define BLOCK_USED_WORDS(rounds) (4 * (rounds))
#include "kernels/block/bitslice/form.h"

#define BLOCK_FIRST_ROUND 0

FN void BLOCK_NAME(begin)(u32 *state, GLOBAL const u32 *schedule) {}

FN void BLOCK_NAME(rounds_from)(u32 *state, u32 from, GLOBAL const u32 *schedule, u32 rounds,
                                u32 inverse) {
  ROLLED for (u32 round = from; round < rounds; ++round) {
    KEEP_IN_STEP();
    const Block key = BLOCK_ROUND_KEY(schedule, round);
    UNROLL for (u32 i = 0; i < 4; ++i) {
      u32 t[32];
      UNROLL for (u32 j = 0; j < 32; ++j) {
        t[j] = LUT3(state[32 * ((i + 1) & 3) + j], state[32 * ((i + 2) & 3) + j],
                    state[32 * ((i + 3) & 3) + j], 0x96) ^
               SPREAD_BIT(key.w[i], j);
      }
      sm4_planes_add_t(state + 32 * i, t);
    }
  }
  sm4_planes_reverse(state);
}

#ifndef BLOCK_KEY_SLOT
FN void BLOCK_NAME(planes_cipher)(u32 *state, GLOBAL const u32 *planes, u32 rounds, u32 inverse) {
  sm4_planes_cipher(state, planes, rounds);
}
#endif

#include "kernels/block/bitslice/kernels.h"
