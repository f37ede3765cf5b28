// AES (FIPS 197) over bit planes with bitsliced round keys. The S-box consists of gates, without a
// table.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aes/aes_sbox_planes.h"
#include "kernels/block/bitslice/planes.h"

// SubBytes or InvSubBytes (FIPS 197, 5.1.1 and 5.3.2).
FN void aes_planes_sub_bytes(u32 *state, u32 inverse) {
  UNROLL for (u32 i = 0; i < 16; ++i) {
    u32 x[8];
    UNROLL for (u32 j = 0; j < 8; ++j) x[j] = state[8 * i + 7 - j];
    if (inverse) {
      aes_inverse_sbox_planes(x);
      UNROLL for (u32 j = 0; j < 8; ++j) state[8 * i + 7 - j] = x[j];
    } else {
      aes_sbox_planes(x);  // the constant 0x63 of the S-box is added here
      UNROLL for (u32 j = 0; j < 8; ++j) {
        state[8 * i + j] = (0x63 >> j) & 1 ? ~x[7 - j] : x[7 - j];
      }
    }
  }
}

// ShiftRows or InvShiftRows (FIPS 197, 5.1.2 and 5.3.1): a row moves along the four columns.
FN void aes_planes_shift_rows(u32 *state, u32 inverse) {
  UNROLL for (u32 row = 1; row < 4; ++row) {
    const u32 by = inverse ? 4 - row : row;
    UNROLL for (u32 j = 0; j < 8; ++j) {
      u32 plane[4];
      UNROLL for (u32 c = 0; c < 4; ++c) plane[c] = state[32 * ((c + by) & 3) + 8 * row + j];
      UNROLL for (u32 c = 0; c < 4; ++c) state[32 * c + 8 * row + j] = plane[c];
    }
  }
}

// Multiplies from[0..7] by x in GF(2^8) (FIPS 197, 4.2); the result is to[0..7].
FN void aes_planes_times_x(u32 *to, const u32 *from) {
  const u32 top = from[7];
  UNROLL for (u32 j = 7; j > 0; --j) to[j] = from[j - 1];
  to[0] = top;
  to[1] ^= top;
  to[3] ^= top;
  to[4] ^= top;
}

// MixColumns (FIPS 197, 5.1.3) of one column of 4 x 8 planes.
FN void aes_planes_mix_column(u32 *column) {
  u32 mixed[32];
  UNROLL for (u32 row = 0; row < 4; ++row) {
    const u32 r1 = 8 * ((row + 1) & 3), r2 = 8 * ((row + 2) & 3), r3 = 8 * ((row + 3) & 3);
    u32 sum[8], doubled[8];
    UNROLL for (u32 j = 0; j < 8; ++j) sum[j] = column[8 * row + j] ^ column[r1 + j];
    aes_planes_times_x(doubled, sum);
    UNROLL for (u32 j = 0; j < 8; ++j) {
      mixed[8 * row + j] = doubled[j] ^ column[r1 + j] ^ column[r2 + j] ^ column[r3 + j];
    }
  }
  UNROLL for (u32 j = 0; j < 32; ++j) column[j] = mixed[j];
}

// InvMixColumns (FIPS 197, 5.3.3): MixColumns after adding 4(a0 + a2) to rows 0 and 2, and 4(a1 +
// a3) to rows 1 and 3.
FN void aes_planes_inverse_mix_column(u32 *column) {
  UNROLL for (u32 row = 0; row < 2; ++row) {
    u32 sum[8], doubled[8];
    UNROLL for (u32 j = 0; j < 8; ++j) sum[j] = column[8 * row + j] ^ column[8 * row + 16 + j];
    aes_planes_times_x(doubled, sum);
    aes_planes_times_x(sum, doubled);
    UNROLL for (u32 j = 0; j < 8; ++j) {
      column[8 * row + j] ^= sum[j];
      column[8 * row + 16 + j] ^= sum[j];
    }
  }
  aes_planes_mix_column(column);
}

// Encrypts 32 blocks (FIPS 197, 5.1), or if `inverse` decrypts them (5.3.5). Input and output are
// blocks, with word 32 * c + k as in block_transpose_state.
FN void aes_planes_cipher(u32 *state, GLOBAL const u32 *planes, u32 rounds, u32 inverse) {
  block_transpose_state(state);
  block_planes_add_key(state, planes);
  for (u32 round = 1; round <= rounds; ++round) {
    aes_planes_sub_bytes(state, inverse);
    aes_planes_shift_rows(state, inverse);
    if (round < rounds) {
      UNROLL for (u32 c = 0; c < 4; ++c) {
        if (inverse)
          aes_planes_inverse_mix_column(state + 32 * c);
        else
          aes_planes_mix_column(state + 32 * c);
      }
    }
    block_planes_add_key(state, planes + 128 * round);
  }
  block_transpose_state(state);
}
