// Bit planes: a thread processes 32 blocks, and every word holds one bit of each. No address and no
// branch depends on data, on any device.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/tiles.h"

// The state is 128 words: word 8 * i + j holds bit j of byte i (FIPS 197, 3.4: row i % 4, column i
// / 4) of each of the 32 blocks.

// Get and set block k of the state before it is sliced, or after it is transposed back.
FN Block block_planes_get(const u32 *state, u32 k) {
  const Block b = {{state[k], state[32 + k], state[64 + k], state[96 + k]}};
  return b;
}

FN void block_planes_set(u32 *state, u32 k, Block b) {
  UNROLL for (u32 c = 0; c < 4; ++c) state[32 * c + k] = b.w[c];
}

// In every pair of words `distance` apart, exchanges the bits of the first that `mask` leaves out
// with the bits of the second that `mask` keeps.
FN void block_swap_bits(u32 *words, u32 distance, u32 mask) {
  UNROLL for (u32 i = 0; i < 32; ++i) {
    if ((i & distance) == 0) {
      const u32 a = words[i], b = words[i + distance];
      words[i] = LUT3(a, b << distance, mask, 0xe4);  // mask ? a : b
      words[i + distance] = LUT3(a >> distance, b, mask, 0xe4);
    }
  }
}

// Transposes 32 x 32 bits: bit k of word j of the result is bit j of word k.
FN void block_transpose(u32 *words) {
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
  block_swap_bits(words, 4, 0x0f0f0f0fu);
  block_swap_bits(words, 2, 0x33333333u);
  block_swap_bits(words, 1, 0x55555555u);
}

// Converts blocks to planes, and back. As blocks, word 32 * c + k is column c of block k.
FN void block_transpose_state(u32 *state) {
  UNROLL for (u32 c = 0; c < 4; ++c) block_transpose(state + 32 * c);
}

FN void block_planes_add_key(u32 *state, GLOBAL const u32 *planes) {
  UNROLL for (u32 i = 0; i < 128; i += 4) {
    const Block key = load_block((GLOBAL const u8 *)(planes + i));
    UNROLL for (u32 j = 0; j < 4; ++j) state[i + j] ^= key.w[j];
  }
}
