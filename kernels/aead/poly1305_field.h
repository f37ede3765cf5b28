// Arithmetic modulo 2^130 - 5 in five limbs of 26 bits, for Poly1305 (RFC 8439, 2.5). Products of
// 32 by 32 bits are added to sums of 64 bits. No step depends on data.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/platform.h"

// A number with limbs below 2^27.
typedef struct Poly {
  u32 w[5];
} Poly;

// A multiplier: its limbs, and all but the first of them also times 5.
typedef struct PolyFactor {
  u32 w[5];
  u32 w5[4];
} PolyFactor;

FN PolyFactor poly_factor(Poly a) {
  PolyFactor f;
  UNROLL for (int i = 0; i < 5; ++i) f.w[i] = a.w[i];
  UNROLL for (int i = 0; i < 4; ++i) f.w5[i] = 5 * a.w[i + 1];
  return f;
}

FN Poly poly_zero(void) {
  Poly a = {{0, 0, 0, 0, 0}};
  return a;
}

FN Poly poly_add(Poly a, Poly b) {
  UNROLL for (int i = 0; i < 5; ++i) a.w[i] += b.w[i];
  return a;
}

// Returns a block of the message, with the bit that Poly1305 sets above it.
FN Poly poly_of_block(Block b) {
  Poly a;
  a.w[0] = b.w[0] & 0x3ffffffu;
  a.w[1] = (b.w[0] >> 26 | b.w[1] << 6) & 0x3ffffffu;
  a.w[2] = (b.w[1] >> 20 | b.w[2] << 12) & 0x3ffffffu;
  a.w[3] = (b.w[2] >> 14 | b.w[3] << 18) & 0x3ffffffu;
  a.w[4] = b.w[3] >> 8 | 0x1000000u;
  return a;
}

// Computes sums += a * f. A sum can hold four such products, of limbs below 2^27 by limbs below
// 2^26.
FN void poly_multiply_add(u64 *sums, Poly a, PolyFactor f) {
  sums[0] += (u64)a.w[0] * f.w[0] + (u64)a.w[1] * f.w5[3] + (u64)a.w[2] * f.w5[2] +
             (u64)a.w[3] * f.w5[1] + (u64)a.w[4] * f.w5[0];
  sums[1] += (u64)a.w[0] * f.w[1] + (u64)a.w[1] * f.w[0] + (u64)a.w[2] * f.w5[3] +
             (u64)a.w[3] * f.w5[2] + (u64)a.w[4] * f.w5[1];
  sums[2] += (u64)a.w[0] * f.w[2] + (u64)a.w[1] * f.w[1] + (u64)a.w[2] * f.w[0] +
             (u64)a.w[3] * f.w5[3] + (u64)a.w[4] * f.w5[2];
  sums[3] += (u64)a.w[0] * f.w[3] + (u64)a.w[1] * f.w[2] + (u64)a.w[2] * f.w[1] +
             (u64)a.w[3] * f.w[0] + (u64)a.w[4] * f.w5[3];
  sums[4] += (u64)a.w[0] * f.w[4] + (u64)a.w[1] * f.w[3] + (u64)a.w[2] * f.w[2] +
             (u64)a.w[3] * f.w[1] + (u64)a.w[4] * f.w[0];
}

// Carries: returns limbs below 2^26, except that the second may be slightly larger.
FN Poly poly_carry(u64 *sums) {
  Poly a;
  UNROLL for (int i = 0; i < 4; ++i) {
    a.w[i] = (u32)sums[i] & 0x3ffffffu;
    sums[i + 1] += sums[i] >> 26;
  }
  a.w[4] = (u32)sums[4] & 0x3ffffffu;
  const u64 low = a.w[0] + 5 * (sums[4] >> 26);
  a.w[0] = (u32)low & 0x3ffffffu;
  a.w[1] += (u32)(low >> 26);
  return a;
}

FN Poly poly_multiply(Poly a, Poly b) {
  u64 sums[5] = {0, 0, 0, 0, 0};
  poly_multiply_add(sums, a, poly_factor(b));
  return poly_carry(sums);
}

// Returns r^exponent. The exponent is not secret.
FN Poly poly_power(Poly r, u64 exponent) {
  Poly a = {{1, 0, 0, 0, 0}};
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) a = poly_multiply(a, r);
    if (exponent > 1) r = poly_multiply(r, r);
  }
  return a;
}

// Returns the tag (RFC 8439, 2.5): a, with limbs below 2^27, fully reduced, plus s, modulo 2^128.
FN Block poly_finish(Poly a, Block s) {
  u32 g[5];
  UNROLL for (int pass = 0; pass < 2; ++pass) {
    UNROLL for (int i = 0; i < 4; ++i) {
      a.w[i + 1] += a.w[i] >> 26;
      a.w[i] &= 0x3ffffffu;
    }
    a.w[0] += 5 * (a.w[4] >> 26);
    a.w[4] &= 0x3ffffffu;
  }
  UNROLL for (int i = 0; i < 4; ++i) {
    a.w[i + 1] += a.w[i] >> 26;
    a.w[i] &= 0x3ffffffu;
  }
  // a + 5 reaches 2^130 exactly if a is not less than the modulus.
  u32 carry = 5;
  UNROLL for (int i = 0; i < 5; ++i) {
    g[i] = a.w[i] + carry;
    carry = g[i] >> 26;
    g[i] &= 0x3ffffffu;
  }
  const u32 take = 0u - carry;
  UNROLL for (int i = 0; i < 5; ++i) a.w[i] ^= (a.w[i] ^ g[i]) & take;
  Block tag = {{a.w[0] | a.w[1] << 26, a.w[1] >> 6 | a.w[2] << 20, a.w[2] >> 12 | a.w[3] << 14,
                a.w[3] >> 18 | a.w[4] << 8}};
  u64 sum = 0;
  UNROLL for (int i = 0; i < 4; ++i) {
    sum += (u64)tag.w[i] + s.w[i];
    tag.w[i] = (u32)sum;
    sum >>= 32;
  }
  return tag;
}
