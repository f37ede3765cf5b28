// Camellia without tables; see kernels/block/bitslice/form.h. `rounds` counts by sixes.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/bitslice/planes.h"
#include "kernels/camellia/camellia_sbox.h"

#ifndef LC_KERNELS_CAMELLIA_BITSLICE
#define LC_KERNELS_CAMELLIA_BITSLICE

// The S-boxes of a word's four bytes, from s1 on, or `turned` from s2 on.
FN void camellia_planes_sub_word(u32 *word, u32 turned) {
  UNROLL for (u32 byte = 0; byte < 4; ++byte) {
    // s4 takes its byte turned by a bit, s2 and s3 turn what comes out.
    const u32 kind = (byte + turned) & 3;
    const u32 in = kind == 3 ? 7 : 0, out = kind == 1 ? 1 : kind == 2 ? 7 : 0;
    u32 x[8];
    UNROLL for (u32 j = 0; j < 8; ++j) x[7 - j] = word[8 * byte + ((j + in) & 7)];
    camellia_sbox_planes(x);
    UNROLL for (u32 j = 0; j < 8; ++j) word[8 * byte + ((j + out) & 7)] = x[7 - j];
  }
}

// F of t, which has the key and is overwritten, added to the planes y of two words.
FN void camellia_planes_add_f(u32 *y, u32 *t) {
  camellia_planes_sub_word(t, 0);
  camellia_planes_sub_word(t + 32, 1);
  UNROLL for (u32 j = 0; j < 8; ++j) {
    const u32 *z = t + j, *w = t + 32 + j;
    const u32 u[4] = {LUT3(z[0], z[16], z[24], 0x96), LUT3(z[0], z[8], z[24], 0x96),
                      LUT3(z[0], z[8], z[16], 0x96), LUT3(z[8], z[16], z[24], 0x96)};
    const u32 v[4] = {u[0] ^ LUT3(w[24], w[16], w[8], 0x96), u[1] ^ LUT3(w[24], w[16], w[0], 0x96),
                      u[2] ^ LUT3(w[24], w[8], w[0], 0x96), u[3] ^ LUT3(w[16], w[8], w[0], 0x96)};
    UNROLL for (u32 byte = 0; byte < 4; ++byte) {
      y[8 * byte + j] ^= v[byte];
      y[32 + 8 * byte + j] = LUT3(y[32 + 8 * byte + j], v[byte], u[(byte + 3) & 3], 0x96);
    }
  }
}

// The plane of bit `bit`, counted from the least significant, of a word of the standard.
#define CAMELLIA_PLANE(bit) (8 * (3 - ((bit)&31) / 8) + (bit) % 8)

// FL of the planes x of two words under keys k of as many, and its inverse.
FN void camellia_planes_turn_and_add(u32 *x, const u32 *k) {
  UNROLL for (u32 bit = 0; bit < 32; ++bit) {
    const u32 from = CAMELLIA_PLANE(bit + 31);
    x[32 + CAMELLIA_PLANE(bit)] ^= x[from] & k[from];
  }
}
FN void camellia_planes_or_and_add(u32 *x, const u32 *k) {
  UNROLL for (u32 j = 0; j < 32; ++j) x[j] ^= x[32 + j] | k[32 + j];
}

FN void camellia_planes_fl(u32 *state, const u32 *k) {
  camellia_planes_turn_and_add(state, k);
  camellia_planes_or_and_add(state, k);
  camellia_planes_or_and_add(state + 64, k + 64);
  camellia_planes_turn_and_add(state + 64, k + 64);
}

FN void camellia_planes_swap(u32 *state) {
  UNROLL for (u32 j = 0; j < 64; ++j) {
    const u32 plane = state[j];
    state[j] = state[64 + j];
    state[64 + j] = plane;
  }
}

// The planes of four words of keys, all blocks' own or one for all.
FN void camellia_planes_of(u32 *k, GLOBAL const u32 *planes) {
  UNROLL for (u32 j = 0; j < 128; j += 4) {
    const Block four = load_block((GLOBAL const u8 *)(planes + j));
    UNROLL for (u32 i = 0; i < 4; ++i) k[j + i] = four.w[i];
  }
}
FN void camellia_planes_of_word_keys(u32 *k, Block key) {
  UNROLL for (u32 j = 0; j < 128; ++j) k[j] = SPREAD_BIT(key.w[j / 32], j % 32);
}

FN void camellia_planes_two_rounds(u32 *state, const u32 *k) {
  u32 t[64];
  UNROLL for (u32 j = 0; j < 64; ++j) t[j] = state[j] ^ k[j];
  camellia_planes_add_f(state + 64, t);
  UNROLL for (u32 j = 0; j < 64; ++j) t[j] = state[64 + j] ^ k[64 + j];
  camellia_planes_add_f(state, t);
}

FN void camellia_planes_add(u32 *state, const u32 *k) {
  UNROLL for (u32 j = 0; j < 128; ++j) state[j] ^= k[j];
}

FN void camellia_planes_cipher(u32 *state, GLOBAL const u32 *planes, u32 rounds) {
  u32 k[128];
  block_transpose_state(state);
  camellia_planes_of(k, planes);
  camellia_planes_add(state, k);
  for (u32 place = 1; place < 4 * rounds; ++place) {
    camellia_planes_of(k, planes + 128 * place);
    if (place % 4 == 0)
      camellia_planes_fl(state, k);
    else
      camellia_planes_two_rounds(state, k);
  }
  camellia_planes_swap(state);
  camellia_planes_of(k, planes + 512 * rounds);
  camellia_planes_add(state, k);
  block_transpose_state(state);
}

#endif

#define BLOCK_CIPHER camellia
#define BLOCK_SCHEDULE_WORDS CAMELLIA_SCHEDULE_WORDS
#define BLOCK_MODES CAMELLIA_MODES
#define BLOCK_PLANE_WORDS CAMELLIA_PLANE_WORDS
#define BLOCK_USED_WORDS(rounds) (16 * (rounds) + 4)
#include "kernels/block/bitslice/form.h"

#define BLOCK_FIRST_ROUND 1

FN void BLOCK_NAME(begin)(u32 *state, GLOBAL const u32 *schedule) {
  u32 k[128];
  camellia_planes_of_word_keys(k, BLOCK_ROUND_KEY(schedule, 0));
  camellia_planes_add(state, k);
}

FN void BLOCK_NAME(rounds_from)(u32 *state, u32 from, GLOBAL const u32 *schedule, u32 rounds,
                                u32 inverse) {
  u32 k[128];
  ROLLED for (u32 place = from; place < 4 * rounds; ++place) {
    KEEP_IN_STEP();
    camellia_planes_of_word_keys(k, BLOCK_ROUND_KEY(schedule, place));
    if (place % 4 == 0)
      camellia_planes_fl(state, k);
    else
      camellia_planes_two_rounds(state, k);
  }
  camellia_planes_swap(state);
  camellia_planes_of_word_keys(k, BLOCK_ROUND_KEY(schedule, 4 * rounds));
  camellia_planes_add(state, k);
}

#ifndef BLOCK_KEY_SLOT
FN void BLOCK_NAME(planes_cipher)(u32 *state, GLOBAL const u32 *planes, u32 rounds, u32 inverse) {
  camellia_planes_cipher(state, planes, rounds);
}
#endif

#include "kernels/block/bitslice/kernels.h"
