// AES on one word of four bytes, without tables. GLSL compiles this file too.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aes_sbox_planes.h"

// SubWord (FIPS 197, 5.2).
FN u32 aes_sub_word(u32 word) {
  u32 planes[8], result = 0x63636363u;
  UNROLL for (int i = 0; i < 8; ++i) planes[i] = (word >> (7 - i)) & 0x01010101u;
  aes_sbox_planes(planes);
  UNROLL for (int i = 0; i < 8; ++i) result ^= (planes[i] & 0x01010101u) << (7 - i);
  return result;
}

// Multiplies four bytes by x in GF(2^8) (FIPS 197, 4.2).
FN u32 aes_times_x(u32 bytes) {
  return ((bytes & 0x7f7f7f7fu) << 1) ^ (((bytes >> 7) & 0x01010101u) * 0x1bu);
}

// InvMixColumns (FIPS 197, 5.3.3) of one column.
FN u32 aes_inverse_mix_column(u32 a) {
  u32 a2 = aes_times_x(a), a4 = aes_times_x(a2), a8 = aes_times_x(a4);
  u32 a9 = a ^ a8;
  return (a2 ^ a4 ^ a8) ^ ROTATE_LEFT(a9 ^ a2, 24) ^ ROTATE_LEFT(a9 ^ a4, 16) ^ ROTATE_LEFT(a9, 8);
}
