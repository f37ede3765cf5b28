// The rounds of bitsliced AES (FIPS 197, 5.1 and 5.3) under one key, column by column. The bytes
// that ShiftRows brings together are read from where they are, so ShiftRows costs nothing; a round
// is 67 gates for each byte and 96 for each column. The state is as in planes.h. Keys are plain
// round keys, whose bits are spread over the 32 blocks when they are added.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aes/aes_planes.h"

// Returns the round key with the constant 0x63 that the gates of the S-box leave out. MixColumns
// maps that constant to itself, so it can be added with the key. Decryption has no such constant.
FN Block aes_bitslice_key(Block key, u32 inverse) {
  if (!inverse) {
    UNROLL for (u32 c = 0; c < 4; ++c) key.w[c] ^= 0x63636363u;
  }
  return key;
}

// AddRoundKey (FIPS 197, 5.1.4).
FN void aes_bitslice_add_key(u32 *state, Block key) {
  UNROLL for (u32 i = 0; i < 128; ++i) state[i] ^= SPREAD_BIT(key.w[i / 32], i % 32);
}

// ShiftRows and SubBytes without its constant (FIPS 197, 5.1.2 and 5.1.1), or InvShiftRows and
// InvSubBytes (5.3.1 and 5.3.2), for the bytes that come to column c.
FN void aes_bitslice_sub_column(u32 *column, const u32 *state, u32 c, u32 inverse) {
  UNROLL for (u32 row = 0; row < 4; ++row) {
    const u32 from = 32 * ((inverse ? c - row : c + row) & 3) + 8 * row;
    u32 x[8];
    UNROLL for (u32 j = 0; j < 8; ++j) x[j] = state[from + 7 - j];
    if (inverse)
      aes_inverse_sbox_planes(x);
    else
      aes_sbox_planes(x);
    UNROLL for (u32 j = 0; j < 8; ++j) column[8 * row + j] = x[7 - j];
  }
}

// MixColumns and AddRoundKey (FIPS 197, 5.1.3 and 5.1.4) of a column. If t is the sums of
// neighbouring bytes, 2 a0 + 3 a1 + a2 + a3 is 2 t0 + a1 + t2.
FN void aes_bitslice_mix_column(u32 *mixed, const u32 *a, u32 key) {
  u32 t[32];
  UNROLL for (u32 i = 0; i < 32; ++i) t[i] = a[i] ^ a[(i + 8) & 31];
  UNROLL for (u32 i = 0; i < 32; ++i) {
    const u32 top = (i & 24) + 7, j = i & 7;
    const u32 doubled = t[j == 0 ? top : i - 1];
    const u32 sum = LUT3(doubled, a[(i + 8) & 31], t[(i + 16) & 31], 0x96);
    const u32 k = SPREAD_BIT(key, i);
    mixed[i] = j == 1 || j == 3 || j == 4 ? LUT3(sum, t[top], k, 0x96) : sum ^ k;
  }
}

// InvMixColumns and AddRoundKey (FIPS 197, 5.3.3) of a column: MixColumns after adding 4(a0 + a2)
// to rows 0 and 2, and 4(a1 + a3) to rows 1 and 3.
FN void aes_bitslice_inverse_mix_column(u32 *mixed, u32 *a, u32 key) {
  UNROLL for (u32 row = 0; row < 2; ++row) {
    u32 sum[8], doubled[8];
    UNROLL for (u32 j = 0; j < 8; ++j) sum[j] = a[8 * row + j] ^ a[8 * row + 16 + j];
    aes_planes_times_x(doubled, sum);
    aes_planes_times_x(sum, doubled);
    UNROLL for (u32 j = 0; j < 8; ++j) {
      a[8 * row + j] ^= sum[j];
      a[8 * row + 16 + j] ^= sum[j];
    }
  }
  aes_bitslice_mix_column(mixed, a, key);
}

FN void aes_bitslice_round(u32 *state, Block key, u32 inverse) {
  u32 next[128];
  UNROLL for (u32 c = 0; c < 4; ++c) {
    u32 column[32];
    aes_bitslice_sub_column(column, state, c, inverse);
    if (inverse)
      aes_bitslice_inverse_mix_column(next + 32 * c, column, key.w[c]);
    else
      aes_bitslice_mix_column(next + 32 * c, column, key.w[c]);
  }
  UNROLL for (u32 i = 0; i < 128; ++i) state[i] = next[i];
}

FN void aes_bitslice_last_round(u32 *state, Block key, u32 inverse) {
  u32 next[128];
  UNROLL for (u32 c = 0; c < 4; ++c) aes_bitslice_sub_column(next + 32 * c, state, c, inverse);
  UNROLL for (u32 i = 0; i < 128; ++i) state[i] = next[i];
  aes_bitslice_add_key(state, key);
}
