// Rounds 1 and 2 of CTR for bitsliced AES. A thread's counters in a window (see
// kernels/block/layout.h) differ only in byte 14. So all else of these rounds is computed once per
// window, on plain words. One byte of round 1 and four bytes of round 2 go through the gates,
// instead of 32.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aes/aes_bitslice_rounds.h"
#include "kernels/aes/aes_key.h"

typedef struct AesBitsliceWindow {
  u32 row;       // byte 14 of the first row, XOR that byte of round key 0
  u32 column1;   // round 1: column 1 without the part that comes from byte 14
  u32 state[4];  // round 2, without the part that comes from column 1
} AesBitsliceWindow;

// MixColumns (FIPS 197, 5.1.3) of one column.
FN u32 aes_mix_column(u32 a) {
  const u32 a2 = aes_times_x(a);
  return a2 ^ ROTATE_LEFT(a2 ^ a, 24) ^ ROTATE_LEFT(a, 16) ^ ROTATE_LEFT(a, 8);
}

// Returns byte 0 of a, 1 of b, 2 of c and 3 of d: the column that ShiftRows makes.
FN u32 aes_diagonal(u32 a, u32 b, u32 c, u32 d) {
  return PICK(PICK(a, b, 0x0050), PICK(c, d, 0x0072), 0x5410);
}

// Computes the window. `first` is the thread's counter block in the window's first row.
FN AesBitsliceWindow aes_bitslice_window_of(Block first, Block k0, Block k1, Block k2) {
  // Stands for the S-box output of the byte that changes; its value is the constant that the gates
  // leave out.
  const u32 later = 0x63636363u;
  Block s = block_xor(first, k0);
  UNROLL for (u32 c = 0; c < 4; ++c) s.w[c] = aes_sub_word(s.w[c]);
  const u32 r0 =
      aes_sub_word(k1.w[0] ^ aes_mix_column(aes_diagonal(s.w[0], s.w[1], s.w[2], s.w[3])));
  const u32 r2 =
      aes_sub_word(k1.w[2] ^ aes_mix_column(aes_diagonal(s.w[2], s.w[3], s.w[0], s.w[1])));
  const u32 r3 =
      aes_sub_word(k1.w[3] ^ aes_mix_column(aes_diagonal(s.w[3], s.w[0], s.w[1], s.w[2])));
  AesBitsliceWindow window;
  window.row = BYTE_OF(first.w[3] ^ k0.w[3], 2);
  window.column1 = k1.w[1] ^ aes_mix_column(aes_diagonal(s.w[1], s.w[2], later, s.w[0]));
  window.state[0] = k2.w[0] ^ aes_mix_column(aes_diagonal(r0, later, r2, r3));
  window.state[1] = k2.w[1] ^ aes_mix_column(aes_diagonal(later, r2, r3, r0));
  window.state[2] = k2.w[2] ^ aes_mix_column(aes_diagonal(r2, r3, r0, later));
  window.state[3] = k2.w[3] ^ aes_mix_column(aes_diagonal(r3, r0, later, r2));
  return window;
}

// Applies the gates of the S-box to the eight planes `byte`, and computes what MixColumns makes of
// that byte in row `row`, XOR `rest`, the column that all blocks share: 32 planes.
FN void aes_bitslice_one_byte(u32 *column, const u32 *byte, u32 row, u32 rest) {
  u32 x[8];
  UNROLL for (u32 j = 0; j < 8; ++j) x[j] = byte[7 - j];
  aes_sbox_planes(x);
  UNROLL for (u32 i = 0; i < 32; ++i) {
    const u32 j = i & 7, to = i / 8;
    const u32 bit = x[7 - j], below = x[j == 0 ? 0 : 8 - j], top = x[0];
    const u32 fixed = SPREAD_BIT(rest, i);
    const u32 folds = j == 1 || j == 3 || j == 4;
    if (to == row)  // times 2
      column[i] = folds ? LUT3(fixed, below, top, 0x96) : fixed ^ below;
    else if (((to + 1) & 3) == row)  // times 3
      column[i] = LUT3(fixed, below, bit, 0x96) ^ (folds ? top : 0);
    else
      column[i] = fixed ^ bit;
  }
}

// Computes the states after round 2 of the window's rows 32 * part to 32 * part + 31.
FN void aes_bitslice_rows(u32 *state, const AesBitsliceWindow *window, u32 part) {
  const u32 row = window->row ^ 32 * part;
  u32 byte[8], column1[32];
  UNROLL for (u32 j = 0; j < 8; ++j) byte[j] = SPREAD_BIT(row, j);
  byte[0] ^= 0xaaaaaaaau;  // bit k of these masks is bit j of k
  byte[1] ^= 0xccccccccu;
  byte[2] ^= 0xf0f0f0f0u;
  byte[3] ^= 0xff00ff00u;
  byte[4] ^= 0xffff0000u;
  aes_bitslice_one_byte(column1, byte, 2, window->column1);
  aes_bitslice_one_byte(state + 32, column1, 0, window->state[1]);
  aes_bitslice_one_byte(state, column1 + 8, 1, window->state[0]);
  aes_bitslice_one_byte(state + 96, column1 + 16, 2, window->state[3]);
  aes_bitslice_one_byte(state + 64, column1 + 24, 3, window->state[2]);
}
