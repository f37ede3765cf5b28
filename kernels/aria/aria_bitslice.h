// ARIA without tables; see kernels/block/bitslice/form.h.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/aria/aria_layers.h"
#include "kernels/block/bitslice/planes.h"

#ifndef LC_KERNELS_ARIA_BITSLICE
#define LC_KERNELS_ARIA_BITSLICE

// In even rounds the S-boxes come two bytes later.
FN void aria_planes_sub_bytes(u32 *state, u32 even) {
  UNROLL for (u32 i = 0; i < 16; ++i) {
    u32 x[8];
    UNROLL for (u32 j = 0; j < 8; ++j) x[7 - j] = state[8 * i + j];
    aria_sbox_planes(x, (i + 2 * even) & 3);
    UNROLL for (u32 j = 0; j < 8; ++j) state[8 * i + j] = x[7 - j];
  }
}

// As aria_spread(), aria_diffuse_words() and aria_diffuse(), of bit j of every byte: b is of the
// sixteen bytes, in order.
FN void aria_bits_diffuse_words(u32 *b) {
  UNROLL for (u32 i = 0; i < 4; ++i) {
    b[4 + i] ^= b[8 + i];
    b[8 + i] ^= b[12 + i];
    b[i] ^= b[4 + i];
    b[12 + i] ^= b[4 + i];
    b[8 + i] ^= b[i];
    b[4 + i] ^= b[8 + i];
  }
}

FN void aria_planes_diffuse(u32 *state, u32 even) {
  // Bytes are told by two words more, and two of each, in even rounds.
  const u32 a = 4 * (even ? 3 : 1), m = 4 * (even ? 0 : 2), c = 4 * (even ? 1 : 3);
  UNROLL for (u32 j = 0; j < 8; ++j) {
    u32 b[16], t[4];
    UNROLL for (u32 w = 0; w < 16; w += 4) {
      const u32 all = LUT3(state[8 * w + j], state[8 * w + 8 + j], state[8 * w + 16 + j], 0x96) ^
                      state[8 * w + 24 + j];
      UNROLL for (u32 i = 0; i < 4; ++i) {
        b[w + i] = all ^ state[8 * (w + (even ? i ^ 2 : i)) + j];
      }
    }
    aria_bits_diffuse_words(b);
    UNROLL for (u32 i = 0; i < 4; ++i) t[i] = b[a + (i ^ 1)];
    UNROLL for (u32 i = 0; i < 4; ++i) b[a + i] = t[i];
    UNROLL for (u32 i = 0; i < 4; ++i) t[i] = b[m + (i ^ 2)];
    UNROLL for (u32 i = 0; i < 4; ++i) b[m + i] = t[i];
    UNROLL for (u32 i = 0; i < 4; ++i) t[i] = b[c + (i ^ 3)];
    UNROLL for (u32 i = 0; i < 4; ++i) b[c + i] = t[i];
    aria_bits_diffuse_words(b);
    UNROLL for (u32 i = 0; i < 16; ++i) state[8 * i + j] = b[i];
  }
}

FN void aria_planes_add_key(u32 *state, Block key) {
  UNROLL for (u32 i = 0; i < 128; ++i) state[i] ^= SPREAD_BIT(key.w[i / 32], i % 32);
}

FN void aria_planes_cipher(u32 *state, GLOBAL const u32 *planes, u32 rounds) {
  block_transpose_state(state);
  block_planes_add_key(state, planes);
  for (u32 round = 1;; round += 2) {
    aria_planes_sub_bytes(state, 0);
    aria_planes_diffuse(state, 0);
    block_planes_add_key(state, planes + 128 * round);
    aria_planes_sub_bytes(state, 1);
    if (round + 1 == rounds) break;
    aria_planes_diffuse(state, 1);
    block_planes_add_key(state, planes + 128 * (round + 1));
  }
  block_planes_add_key(state, planes + 128 * rounds);
  block_transpose_state(state);
}

#endif

#define BLOCK_CIPHER aria
#define BLOCK_SCHEDULE_WORDS ARIA_SCHEDULE_WORDS
#define BLOCK_MODES ARIA_MODES
#define BLOCK_PLANE_WORDS ARIA_PLANE_WORDS
#define BLOCK_USED_WORDS(rounds) (4 * ((rounds) + 1))
#include "kernels/block/bitslice/form.h"

#define BLOCK_FIRST_ROUND 1

FN void BLOCK_NAME(begin)(u32 *state, GLOBAL const u32 *schedule) {
  aria_planes_add_key(state, BLOCK_ROUND_KEY(schedule, 0));
}

FN void BLOCK_NAME(rounds_from)(u32 *state, u32 from, GLOBAL const u32 *schedule, u32 rounds,
                                u32 inverse) {
  ROLLED for (u32 round = from;; round += 2) {
    KEEP_IN_STEP();
    aria_planes_sub_bytes(state, 0);
    aria_planes_diffuse(state, 0);
    aria_planes_add_key(state, BLOCK_ROUND_KEY(schedule, round));
    aria_planes_sub_bytes(state, 1);
    if (round + 1 == rounds) break;
    aria_planes_diffuse(state, 1);
    aria_planes_add_key(state, BLOCK_ROUND_KEY(schedule, round + 1));
  }
  aria_planes_add_key(state, BLOCK_ROUND_KEY(schedule, rounds));
}

#ifndef BLOCK_KEY_SLOT
FN void BLOCK_NAME(planes_cipher)(u32 *state, GLOBAL const u32 *planes, u32 rounds, u32 inverse) {
  aria_planes_cipher(state, planes, rounds);
}
#endif

#include "kernels/block/bitslice/kernels.h"
