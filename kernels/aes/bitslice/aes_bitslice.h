// AES without tables: 32 blocks a lane, a bit of each in every word, and the
// S-box made of gates. No address and no branch depends on data, on any
// device.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aes/aes_sbox_planes.h"
#include "kernels/aes/aes_tiles.h"

// The state is 128 words: word 8 * i + j is bit j of byte i (FIPS 197, 3.4:
// row i % 4, column i / 4) of each of the 32 blocks.

// Block k of the state before it is sliced, or after.
FN Block aes_planes_get(const u32 *state, u32 k) {
  const Block b = {{state[k], state[32 + k], state[64 + k], state[96 + k]}};
  return b;
}

FN void aes_planes_set(u32 *state, u32 k, Block b) {
  UNROLL for (u32 c = 0; c < 4; ++c) state[32 * c + k] = b.w[c];
}

// Exchanges, in every pair of words `distance` apart, the bits that `mask`
// leaves out of the first with those that it leaves in of the second.
FN void aes_swap_bits(u32 *words, u32 distance, u32 mask) {
  UNROLL for (u32 i = 0; i < 32; ++i) {
    if ((i & distance) == 0) {
      const u32 a = words[i], b = words[i + distance];
      words[i] = LUT3(a, b << distance, mask, 0xe4);  // mask ? a : b
      words[i + distance] = LUT3(a >> distance, b, mask, 0xe4);
    }
  }
}

// Transposes 32 x 32 bits: afterwards bit k of word j is what bit j of word k
// was.
FN void aes_transpose(u32 *words) {
  UNROLL for (u32 i = 0; i < 16; ++i) {
    const u32 a = words[i], b = words[i + 16];
    words[i] = PICK(a, b, 0x5410);
    words[i + 16] = PICK(a, b, 0x7632);
  }
  UNROLL for (u32 i = 0; i < 32; ++i) {
    if ((i & 8) == 0) {
      const u32 a = words[i], b = words[i + 8];
      words[i] = PICK(a, b, 0x6240);
      words[i + 8] = PICK(a, b, 0x7351);
    }
  }
  aes_swap_bits(words, 4, 0x0f0f0f0fu);
  aes_swap_bits(words, 2, 0x33333333u);
  aes_swap_bits(words, 1, 0x55555555u);
}

// Blocks to planes and back. Before and after, word 32 * c + k is column c of
// block k.
FN void aes_transpose_state(u32 *state) {
  UNROLL for (u32 c = 0; c < 4; ++c) aes_transpose(state + 32 * c);
}

FN void aes_planes_add_key(u32 *state, GLOBAL const u32 *planes) {
  UNROLL for (u32 i = 0; i < 128; i += 4) {
    const Block key = load_block((GLOBAL const u8 *)(planes + i));
    UNROLL for (u32 j = 0; j < 4; ++j) state[i + j] ^= key.w[j];
  }
}

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

// ShiftRows, or its inverse: a row moves along the four columns.
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

// from[0..7] times x, to to[0..7].
FN void aes_planes_times_x(u32 *to, const u32 *from) {
  const u32 top = from[7];
  UNROLL for (u32 j = 7; j > 0; --j) to[j] = from[j - 1];
  to[0] = top;
  to[1] ^= top;
  to[3] ^= top;
  to[4] ^= top;
}

// MixColumns of one column of 4 x 8 planes.
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

// InvMixColumns is MixColumns after adding 4(a0 + a2) to rows 0 and 2, and
// 4(a1 + a3) to rows 1 and 3.
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

// Encrypts, or with inverse decrypts, 32 blocks: blocks in, blocks out, 32 *
// c + k as in aes_transpose_state.
FN void aes_planes_cipher(u32 *state, GLOBAL const u32 *planes, u32 rounds, u32 inverse) {
  aes_transpose_state(state);
  aes_planes_add_key(state, planes);
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
    aes_planes_add_key(state, planes + 128 * round);
  }
  aes_transpose_state(state);
}

// Bitsliced key schedules from plain ones, a lane each. With `streams` 0,
// planes n holds key n in all 32 blocks; otherwise those of pieces 32 * n to
// 32 * n + 31, a block each.
KERNEL(aes_bitslice_keys, AES_BITSLICE_LANES)
(GLOBAL const u32 *schedules, GLOBAL u32 *planes, u32 count, u32 rounds, u32 streams,
 GLOBAL const AesPiece *pieces, u32 piece_count) {
  for (u32 n = group_id() * group_lanes() + lane_id(); n < count;
       n += group_count() * group_lanes()) {
    for (u32 i = 0; i < 4 * (rounds + 1); ++i) {
      u32 words[32];
      UNROLL for (u32 k = 0; k < 32; ++k) {
        const u32 p = 32 * n + k;
        const u32 key = streams == 0 ? n : p < piece_count ? pieces[p].key : 0;
        words[k] = schedules[(u64)key * AES_SCHEDULE_WORDS + i];
      }
      aes_transpose(words);
      UNROLL for (u32 k = 0; k < 32; ++k) {
        planes[(u64)n * AES_PLANE_WORDS + 32 * i + k] = words[k];
      }
    }
  }
}

// 32 streams a lane: pieces 32 * n to 32 * n + 31 under planes n. chain as in
// the table form.
KERNEL(aes_bitslice_cbc_encrypt, AES_BITSLICE_CHAIN_LANES)
(GLOBAL const AesPiece *pieces, u32 count, GLOBAL u32 *chain, GLOBAL const u32 *planes, u32 rounds,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base) {
  for (u32 n = group_id() * group_lanes() + lane_id(); 32 * n < count;
       n += group_count() * group_lanes()) {
    u32 state[128];
    u64 longest = 0;
    UNROLL for (u32 k = 0; k < 32; ++k) {
      const u32 p = 32 * n + k;
      Block b = {{0, 0, 0, 0}};
      if (p < count) {
        b = pieces[p].continues ? load_block((GLOBAL const u8 *)(chain + (u64)pieces[p].chain * 4))
                                : aes_iv(pieces + p);
        longest = pieces[p].length > longest ? pieces[p].length : longest;
      }
      UNROLL for (u32 c = 0; c < 4; ++c) state[32 * c + k] = b.w[c];
    }
    for (u64 at = 0; at < longest; at += 16) {
      UNROLL for (u32 k = 0; k < 32; ++k) {
        const u32 p = 32 * n + k;
        if (p < count && at < pieces[p].length) {
          const Block b = aes_load(in_base + pieces[p].in + at, 16, 0);
          UNROLL for (u32 c = 0; c < 4; ++c) state[32 * c + k] ^= b.w[c];
        }
      }
      aes_planes_cipher(state, planes + (u64)n * AES_PLANE_WORDS, rounds, 0);
      UNROLL for (u32 k = 0; k < 32; ++k) {
        const u32 p = 32 * n + k;
        if (p < count && at < pieces[p].length) {
          const Block b = {{state[k], state[32 + k], state[64 + k], state[96 + k]}};
          aes_store(out_base + pieces[p].out + at, b, 16, 0);
          if (at + 16 >= pieces[p].length)
            store_block((GLOBAL u8 *)(chain + (u64)pieces[p].chain * 4), b);
        }
      }
    }
  }
}
