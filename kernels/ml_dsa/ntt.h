// Arithmetic modulo q = 8380417, the number theoretic transform, and its table.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/ml_dsa/ml_dsa_layout.h"

// 1/q mod 2^32, and 2^64 / 256 mod q.
#define ML_DSA_Q_INVERSE 58728449u
#define ML_DSA_INVERSE_FACTOR 41978u

// The zetas of FIPS 204, Appendix B (powers of 1753, in bit-reversed order), times 2^32 modulo q.
TABLE u32 ml_dsa_zetas[256] = {
    4193792, 25847,   5771523, 7861508, 237124,  7602457, 7504169, 466468,  1826347, 2353451,
    8021166, 6288512, 3119733, 5495562, 3111497, 2680103, 2725464, 1024112, 7300517, 3585928,
    7830929, 7260833, 2619752, 6271868, 6262231, 4520680, 6980856, 5102745, 1757237, 8360995,
    4010497, 280005,  2706023, 95776,   3077325, 3530437, 6718724, 4788269, 5842901, 3915439,
    4519302, 5336701, 3574422, 5512770, 3539968, 8079950, 2348700, 7841118, 6681150, 6736599,
    3505694, 4558682, 3507263, 6239768, 6779997, 3699596, 811944,  531354,  954230,  3881043,
    3900724, 5823537, 2071892, 5582638, 4450022, 6851714, 4702672, 5339162, 6927966, 3475950,
    2176455, 6795196, 7122806, 1939314, 4296819, 7380215, 5190273, 5223087, 4747489, 126922,
    3412210, 7396998, 2147896, 2715295, 5412772, 4686924, 7969390, 5903370, 7709315, 7151892,
    8357436, 7072248, 7998430, 1349076, 1852771, 6949987, 5037034, 264944,  508951,  3097992,
    44288,   7280319, 904516,  3958618, 4656075, 8371839, 1653064, 5130689, 2389356, 8169440,
    759969,  7063561, 189548,  4827145, 3159746, 6529015, 5971092, 8202977, 1315589, 1341330,
    1285669, 6795489, 7567685, 6940675, 5361315, 4499357, 4751448, 3839961, 2091667, 3407706,
    2316500, 3817976, 5037939, 2244091, 5933984, 4817955, 266997,  2434439, 7144689, 3513181,
    4860065, 4621053, 7183191, 5187039, 900702,  1859098, 909542,  819034,  495491,  6767243,
    8337157, 7857917, 7725090, 5257975, 2031748, 3207046, 4823422, 7855319, 7611795, 4784579,
    342297,  286988,  5942594, 4108315, 3437287, 5038140, 1735879, 203044,  2842341, 2691481,
    5790267, 1265009, 4055324, 1247620, 2486353, 1595974, 4613401, 1250494, 2635921, 4832145,
    5386378, 1869119, 1903435, 7329447, 7047359, 1237275, 5062207, 6950192, 7929317, 1312455,
    3306115, 6417775, 7100756, 1917081, 5834105, 7005614, 1500165, 777191,  2235880, 3406031,
    7838005, 5548557, 6709241, 6533464, 5796124, 4656147, 594136,  4603424, 6366809, 2432395,
    2454455, 8215696, 1957272, 3369112, 185531,  7173032, 5196991, 162844,  1616392, 3014001,
    810149,  1652634, 4686184, 6581310, 5341501, 3523897, 3866901, 269760,  2213111, 7404533,
    1717735, 472078,  7953734, 1723600, 6577327, 1910376, 6712985, 7276084, 8119771, 4546524,
    5441381, 6144432, 7959518, 6094090, 183443,  7403526, 1612842, 4834730, 7826001, 3919660,
    8332111, 7018208, 3937738, 1400424, 7534263, 1976782,
};

// All arguments and results are below q. There are no branches.
FN u32 ml_dsa_add(u32 a, u32 b) {
  const u32 sum = a + b - ML_DSA_Q;
  return sum + (ML_DSA_Q & (0u - (sum >> 31)));
}

FN u32 ml_dsa_subtract(u32 a, u32 b) {
  const u32 difference = a - b;
  return difference + (ML_DSA_Q & (0u - (difference >> 31)));
}

// `ml_dsa_multiply` returns a b / 2^32 mod q (FIPS 204, Appendix A, Algorithm 49,
// MontgomeryReduce).
FN u32 ml_dsa_multiply(u32 a, u32 b) {
  const u64 product = (u64)a * b;
  const u32 factor = (u32)product * ML_DSA_Q_INVERSE;
  const u32 rest = (u32)(product >> 32) - (u32)(((u64)factor * ML_DSA_Q) >> 32);
  return rest + (ML_DSA_Q & (0u - (rest >> 31)));
}

// `ml_dsa_magnitude` returns |x|, where an x above q / 2 stands for x - q.
FN u32 ml_dsa_magnitude(u32 x) {
  const u32 is_negative = 0u - (((ML_DSA_Q - 1) / 2 - x) >> 31);
  return (x & ~is_negative) | ((ML_DSA_Q - x) & is_negative);
}

// `ml_dsa_ntt` transforms `count` contiguous polynomials in place (FIPS 204, Algorithm 41, NTT).
// All threads of the thread block call it, and see the result when it returns.
FN void ml_dsa_ntt(SHARED u32 *polys, u32 count) {
  ROLLED for (u32 shift = 7; shift < 8; --shift) {
    const u32 length = 1u << shift;
    for (u32 n = thread_id(); n < count * 128; n += thread_block_size()) {
      const u32 block = (n % 128) >> shift;
      SHARED u32 *at = polys + 2 * n - (n & (length - 1));
      const u32 a = at[0], b = ml_dsa_multiply(ml_dsa_zetas[(128u >> shift) + block], at[length]);
      at[0] = ml_dsa_add(a, b);
      at[length] = ml_dsa_subtract(a, b);
    }
    thread_block_barrier();
  }
}

// `ml_dsa_inverse_ntt` is the inverse in place (FIPS 204, Algorithm 42, NTT^-1). The result is also
// multiplied by 2^32, which cancels the division in ml_dsa_multiply(). If `is_wanted` is 0, it only
// runs the barriers.
FN void ml_dsa_inverse_ntt(SHARED u32 *polys, u32 count, u32 is_wanted) {
  ROLLED for (u32 shift = 0; shift < 8; ++shift) {
    const u32 length = 1u << shift;
    if (is_wanted)
      for (u32 n = thread_id(); n < count * 128; n += thread_block_size()) {
        const u32 block = (n % 128) >> shift;
        SHARED u32 *at = polys + 2 * n - (n & (length - 1));
        const u32 a = at[0], b = at[length];
        u32 sum = ml_dsa_add(a, b);
        u32 rest =
            ml_dsa_multiply(ml_dsa_zetas[(256u >> shift) - 1 - block], ml_dsa_subtract(b, a));
        if (shift == 7) {
          sum = ml_dsa_multiply(sum, ML_DSA_INVERSE_FACTOR);
          rest = ml_dsa_multiply(rest, ML_DSA_INVERSE_FACTOR);
        }
        at[0] = sum;
        at[length] = rest;
      }
    thread_block_barrier();
  }
}

// `ml_dsa_product` computes `row` times `vector`, both in NTT form and of `count` polynomials,
// divided by 2^32 (FIPS 204, Algorithm 45, MultiplyNTT, and Algorithm 48, MatrixVectorNTT, for one
// row). It has no barrier.
FN void ml_dsa_product(SHARED u32 *to, GLOBAL const u32 *row, SHARED const u32 *vector, u32 count) {
  for (u32 n = thread_id(); n < ML_DSA_POLY; n += thread_block_size()) {
    u32 sum = 0;
    for (u32 j = 0; j < count; ++j)
      sum = ml_dsa_add(sum, ml_dsa_multiply(row[j * ML_DSA_POLY + n], vector[j * ML_DSA_POLY + n]));
    to[n] = sum;
  }
}
