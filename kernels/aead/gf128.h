// Arithmetic in the field of GHASH (SP 800-38D, 6.3), without tables. A carry-less product is
// computed by ordinary multiplications whose operands have only every fourth bit set, so that
// carries end in the three bits between. No address and no branch depends on data.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/platform.h"

// The coefficient of x^i is bit 127 - i of the number whose least significant
// word is w[0]: the block read as one big-endian number.
typedef struct Gf128 {
  u32 w[4];
} Gf128;

FN Gf128 gf128_of_block(Block b) {
  Gf128 a = {{SWAP_BYTES(b.w[3]), SWAP_BYTES(b.w[2]), SWAP_BYTES(b.w[1]), SWAP_BYTES(b.w[0])}};
  return a;
}

FN Block gf128_to_block(Gf128 a) {
  Block b = {{SWAP_BYTES(a.w[3]), SWAP_BYTES(a.w[2]), SWAP_BYTES(a.w[1]), SWAP_BYTES(a.w[0])}};
  return b;
}

FN Gf128 gf128_add(Gf128 a, Gf128 b) {
  UNROLL for (int i = 0; i < 4; ++i) a.w[i] ^= b.w[i];
  return a;
}

FN Gf128 gf128_one(void) {
  Gf128 a = {{0, 0, 0, 0x80000000u}};
  return a;
}

// Returns the product of two polynomials of 32 bits. A column of one product sums at most 8 ones. A
// second product that lies four bits higher makes that at most 15. So two such products may be
// added before the carries are masked off.
FN u64 gf128_product32(u32 x, u32 y) {
  const u64 x0 = x & 0x11111111u, x1 = x & 0x22222222u;
  const u64 x2 = x & 0x44444444u, x3 = x & 0x88888888u;
  const u64 y0 = y & 0x11111111u, y1 = y & 0x22222222u;
  const u64 y2 = y & 0x44444444u, y3 = y & 0x88888888u;
  const u64 z0 = (x0 * y0 + x1 * y3) ^ (x2 * y2) ^ (x3 * y1);
  const u64 z1 = (x0 * y1 + x2 * y3) ^ (x1 * y0 + x3 * y2);
  const u64 z2 = (x0 * y2 + x3 * y3) ^ (x1 * y1) ^ (x2 * y0);
  const u64 z3 = (x0 * y3) ^ (x1 * y2) ^ (x2 * y1) ^ (x3 * y0);
  return (z0 & 0x1111111111111111u) | (z1 & 0x2222222222222222u) | (z2 & 0x4444444444444444u) |
         (z3 & 0x8888888888888888u);
}

// Adds the product of two polynomials of 64 bits (Karatsuba) to z[0..3].
FN void gf128_product64(u32 *z, u32 x0, u32 x1, u32 y0, u32 y1) {
  const u64 low = gf128_product32(x0, y0), high = gf128_product32(x1, y1);
  const u64 middle = gf128_product32(x0 ^ x1, y0 ^ y1) ^ low ^ high;
  z[0] ^= (u32)low;
  z[1] ^= (u32)(low >> 32) ^ (u32)middle;
  z[2] ^= (u32)high ^ (u32)(middle >> 32);
  z[3] ^= (u32)(high >> 32);
}

// Reduces z, of 255 bits, modulo x^128 + x^7 + x^2 + x + 1. The order of the bits is reversed, so
// the product of two reversed numbers is first shifted left by one.
FN Gf128 gf128_reduce(u32 *z) {
  UNROLL for (int i = 7; i > 0; --i) z[i] = z[i] << 1 | z[i - 1] >> 31;
  z[0] <<= 1;
  UNROLL for (int i = 0; i < 4; ++i) {
    const u32 low = z[i];
    z[i + 4] ^= low ^ low >> 1 ^ low >> 2 ^ low >> 7;
    z[i + 3] ^= low << 31 ^ low << 30 ^ low << 25;
  }
  Gf128 a = {{z[4], z[5], z[6], z[7]}};
  return a;
}

// The product a * b (SP 800-38D, 6.3, Algorithm 1).
FN Gf128 gf128_multiply(Gf128 a, Gf128 b) {
  u32 z[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  u32 middle[4] = {0, 0, 0, 0};
  gf128_product64(z, a.w[0], a.w[1], b.w[0], b.w[1]);
  gf128_product64(z + 4, a.w[2], a.w[3], b.w[2], b.w[3]);
  gf128_product64(middle, a.w[0] ^ a.w[2], a.w[1] ^ a.w[3], b.w[0] ^ b.w[2], b.w[1] ^ b.w[3]);
  UNROLL for (int i = 0; i < 4; ++i) middle[i] ^= z[i] ^ z[4 + i];
  UNROLL for (int i = 0; i < 4; ++i) z[2 + i] ^= middle[i];
  return gf128_reduce(z);
}

// Spreads 16 bits: bit i moves to bit 2 * i.
FN u32 gf128_spread(u32 x) {
  x = (x | x << 8) & 0x00ff00ffu;
  x = (x | x << 4) & 0x0f0f0f0fu;
  x = (x | x << 2) & 0x33333333u;
  return (x | x << 1) & 0x55555555u;
}

FN Gf128 gf128_square(Gf128 a) {
  u32 z[8];
  UNROLL for (int i = 0; i < 4; ++i) {
    z[2 * i] = gf128_spread(a.w[i] & 0xffffu);
    z[2 * i + 1] = gf128_spread(a.w[i] >> 16);
  }
  return gf128_reduce(z);
}

// Returns a times x.
FN Gf128 gf128_times_x(Gf128 a) {
  const u32 carry = 0u - (a.w[0] & 1);
  UNROLL for (int i = 0; i < 3; ++i) a.w[i] = a.w[i] >> 1 | a.w[i + 1] << 31;
  a.w[3] = a.w[3] >> 1 ^ (carry & 0xe1000000u);
  return a;
}

// Returns h^exponent. The exponent is not secret.
FN Gf128 gf128_power(Gf128 h, u64 exponent) {
  Gf128 a = gf128_one();
  u32 is_one = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) {
      if (is_one)
        a = h;
      else
        a = gf128_multiply(a, h);
      is_one = 0;
    }
    if (exponent > 1) h = gf128_square(h);
  }
  return a;
}
