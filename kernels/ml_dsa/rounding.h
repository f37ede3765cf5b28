// Rounding, hints, and packing of coefficients (FIPS 204, sections 7.1, 7.2 and 7.4).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/ml_dsa/ntt.h"

// x = high * 2 gamma2 + low, with -gamma2 < low <= gamma2, except that q - 1 has high 0 and low -1.
// `low` is stored modulo q.
typedef struct MlDsaSplit {
  u32 high, low;
} MlDsaSplit;

// `ml_dsa_divide` returns x / step for x below 2^24, without a division, whose time may depend on
// x. `step` has at least 17 bits: rounding 2^45 / step up adds less than 1 / step to the quotient.
FN u32 ml_dsa_divide(u32 x, u32 step) {
  return (u32)(((u64)x * (u32)((1ull << 45) / step + 1)) >> 45);
}

// `ml_dsa_decompose` splits x (FIPS 204, Algorithm 36, Decompose). It selects by masks.
FN MlDsaSplit ml_dsa_decompose(u32 x, const MlDsaSet set) {
  const u32 step = 2 * set.gamma2, last = (ML_DSA_Q - 1) / step;
  MlDsaSplit split;
  const u32 high = ml_dsa_divide(x + set.gamma2 - 1, step);
  const u32 wraps = 0u - (1u ^ ((high - last) >> 31));
  split.low = ml_dsa_subtract(x, high * step);
  // If it wraps, high * step is q - 1, and x - (q - 1) - 1 is x modulo q.
  split.low = (split.low & ~wraps) | (ml_dsa_subtract(split.low, 1) & wraps);
  split.high = high & ~wraps;
  return split;
}

// FIPS 204, Algorithm 40, UseHint.
FN u32 ml_dsa_use_hint(u32 hint, u32 x, const MlDsaSet set) {
  const u32 count = (ML_DSA_Q - 1) / (2 * set.gamma2);
  const MlDsaSplit split = ml_dsa_decompose(x, set);
  if (hint == 0) return split.high;
  const u32 is_positive = split.low != 0 && split.low <= set.gamma2 ? 1 : 0;
  return is_positive ? (split.high + 1) % count : (split.high + count - 1) % count;
}

// How a coefficient is packed: unchanged, as `top` minus the coefficient, or as its high bits.
enum { ML_DSA_PLAIN, ML_DSA_FROM_TOP, ML_DSA_HIGH };

// `ml_dsa_packed_word` returns word `n` of a polynomial packed with `bits` bits a coefficient (FIPS
// 204, Algorithm 16, SimpleBitPack, and Algorithm 17, BitPack). With ML_DSA_FROM_TOP `top` minus
// the coefficient is packed.
FN u32 ml_dsa_packed_word(SHARED const u32 *poly, u32 n, u32 bits, u32 how, u32 top,
                          const MlDsaSet set) {
  u32 word = 0;
  const u32 from = 32 * n;
  for (u32 c = from / bits; c * bits < from + 32; ++c) {
    u32 x = poly[c];
    if (how == ML_DSA_FROM_TOP) x = ml_dsa_subtract(top, x);
    if (how == ML_DSA_HIGH) x = ml_dsa_decompose(x, set).high;
    word |= c * bits >= from ? x << (c * bits - from) : x >> (from - c * bits);
  }
  return word;
}

// Coefficient `c` of packed words (FIPS 204, Algorithms 18 and 19, SimpleBitUnpack and BitUnpack).
#define ML_DSA_UNPACKED(words, c, bits)                                    \
  ((((words)[(c) * (bits) / 32] >> ((c) * (bits) % 32)) |                  \
    ((c) * (bits) % 32 + (bits) > 32                                       \
         ? (words)[(c) * (bits) / 32 + 1] << (31 - (c) * (bits) % 32) << 1 \
         : 0u)) &                                                          \
   ((1u << (bits)) - 1))

FN void ml_dsa_pack(GLOBAL u32 *to, SHARED const u32 *polys, u32 count, u32 bits, u32 how, u32 top,
                    const MlDsaSet set) {
  for (u32 n = thread_id(); n < count * 8 * bits; n += thread_block_size())
    to[n] = ml_dsa_packed_word(polys + n / (8 * bits) * ML_DSA_POLY, n % (8 * bits), bits, how, top,
                               set);
}

// `ml_dsa_unpack` unpacks `count` polynomials and multiplies the coefficients by 2^shift. With
// ML_DSA_FROM_TOP the packed value is `top` minus the coefficient, and `shift` is ignored.
FN void ml_dsa_unpack(SHARED u32 *polys, GLOBAL const u32 *from, u32 count, u32 bits, u32 how,
                      u32 top, u32 shift) {
  for (u32 n = thread_id(); n < count * ML_DSA_POLY; n += thread_block_size()) {
    const u32 x = ML_DSA_UNPACKED(from, n, bits);
    polys[n] = how == ML_DSA_FROM_TOP ? ml_dsa_subtract(top, x) : x << shift;
  }
}
