// SHA-256 and SHA-224 (FIPS 180-4, sections 6.2 and 6.3): the compression of one block by one
// thread. The code has no branches and works on registers, so its time does not depend on the data.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/platform.h"

#define SHA256_SIGMA(x, a, b, c) \
  LUT3(ROTATE_LEFT((x), 32 - (a)), ROTATE_LEFT((x), 32 - (b)), ROTATE_LEFT((x), 32 - (c)), 0x96)
#define SHA256_SPREAD(x, a, b, shift) \
  LUT3(ROTATE_LEFT((x), 32 - (a)), ROTATE_LEFT((x), 32 - (b)), (x) >> (shift), 0x96)

// Working variable `n` (0 to 7 for a to h) in round `i`. The variables rotate by index instead of
// being moved.
#define SHA256_AT(n, i) s[((n) - (i)) & 7]

// One round (FIPS 180-4, section 6.2.2, step 3). The schedule word and the constant are added
// first, because they do not wait for another round. A GPU has as many units for logic as for
// products, and most of a round is logic: the other sums are therefore made by multiply-add.
#define SHA256_ROUND(i, k)                                                                   \
  SHA256_AT(7, i) =                                                                          \
      PRODUCT_SUM(SHA256_SIGMA(SHA256_AT(4, i), 6, 11, 25),                                  \
                  PRODUCT_SUM(LUT3(SHA256_AT(4, i), SHA256_AT(5, i), SHA256_AT(6, i), 0xca), \
                              SHA256_AT(7, i) + w[(i)&15] + (k)));                           \
  SHA256_AT(3, i) = PRODUCT_SUM(SHA256_AT(7, i), SHA256_AT(3, i));                           \
  SHA256_AT(7, i) =                                                                          \
      PRODUCT_SUM(SHA256_SIGMA(SHA256_AT(0, i), 2, 13, 22),                                  \
                  PRODUCT_SUM(LUT3(SHA256_AT(0, i), SHA256_AT(1, i), SHA256_AT(2, i), 0xe8), \
                              SHA256_AT(7, i)));

// `sha256_schedule` replaces the last 16 words of the message schedule with the next 16 (FIPS
// 180-4, section 6.2.2, step 1).
FN void sha256_schedule(u32 *w) {
  UNROLL for (int i = 0; i < 16; ++i) {
    const u32 both =
        PRODUCT_SUM(SHA256_SPREAD(w[(i + 1) & 15], 7, 18, 3), PRODUCT_SUM(w[(i + 9) & 15], w[i]));
    w[i] = PRODUCT_SUM(SHA256_SPREAD(w[(i + 14) & 15], 17, 19, 10), both);
  }
}

// The initial hash value of SHA-256 (FIPS 180-4, section 5.3.3).
FN void sha256_start(u32 *state) {
  state[0] = 0x6a09e667u;
  state[1] = 0xbb67ae85u;
  state[2] = 0x3c6ef372u;
  state[3] = 0xa54ff53au;
  state[4] = 0x510e527fu;
  state[5] = 0x9b05688cu;
  state[6] = 0x1f83d9abu;
  state[7] = 0x5be0cd19u;
}

// The initial hash value of SHA-224 (FIPS 180-4, section 5.3.2).
FN void sha224_start(u32 *state) {
  state[0] = 0xc1059ed8u;
  state[1] = 0x367cd507u;
  state[2] = 0x3070dd17u;
  state[3] = 0xf70e5939u;
  state[4] = 0xffc00b31u;
  state[5] = 0x68581511u;
  state[6] = 0x64f98fa7u;
  state[7] = 0xbefa4fa4u;
}

// `sha256_compress` hashes one block of 16 big-endian words into the state (FIPS 180-4, section
// 6.2.2). Afterwards `w` holds the last 16 words of the schedule.
FN void sha256_compress(u32 *state, u32 *w) {
  u32 s[8];
  UNROLL for (int i = 0; i < 8; ++i) s[i] = state[i];
  SHA256_ROUND(0, 0x428a2f98u)
  SHA256_ROUND(1, 0x71374491u)
  SHA256_ROUND(2, 0xb5c0fbcfu)
  SHA256_ROUND(3, 0xe9b5dba5u)
  SHA256_ROUND(4, 0x3956c25bu)
  SHA256_ROUND(5, 0x59f111f1u)
  SHA256_ROUND(6, 0x923f82a4u)
  SHA256_ROUND(7, 0xab1c5ed5u)
  SHA256_ROUND(8, 0xd807aa98u)
  SHA256_ROUND(9, 0x12835b01u)
  SHA256_ROUND(10, 0x243185beu)
  SHA256_ROUND(11, 0x550c7dc3u)
  SHA256_ROUND(12, 0x72be5d74u)
  SHA256_ROUND(13, 0x80deb1feu)
  SHA256_ROUND(14, 0x9bdc06a7u)
  SHA256_ROUND(15, 0xc19bf174u)
  sha256_schedule(w);
  SHA256_ROUND(16, 0xe49b69c1u)
  SHA256_ROUND(17, 0xefbe4786u)
  SHA256_ROUND(18, 0x0fc19dc6u)
  SHA256_ROUND(19, 0x240ca1ccu)
  SHA256_ROUND(20, 0x2de92c6fu)
  SHA256_ROUND(21, 0x4a7484aau)
  SHA256_ROUND(22, 0x5cb0a9dcu)
  SHA256_ROUND(23, 0x76f988dau)
  SHA256_ROUND(24, 0x983e5152u)
  SHA256_ROUND(25, 0xa831c66du)
  SHA256_ROUND(26, 0xb00327c8u)
  SHA256_ROUND(27, 0xbf597fc7u)
  SHA256_ROUND(28, 0xc6e00bf3u)
  SHA256_ROUND(29, 0xd5a79147u)
  SHA256_ROUND(30, 0x06ca6351u)
  SHA256_ROUND(31, 0x14292967u)
  sha256_schedule(w);
  SHA256_ROUND(32, 0x27b70a85u)
  SHA256_ROUND(33, 0x2e1b2138u)
  SHA256_ROUND(34, 0x4d2c6dfcu)
  SHA256_ROUND(35, 0x53380d13u)
  SHA256_ROUND(36, 0x650a7354u)
  SHA256_ROUND(37, 0x766a0abbu)
  SHA256_ROUND(38, 0x81c2c92eu)
  SHA256_ROUND(39, 0x92722c85u)
  SHA256_ROUND(40, 0xa2bfe8a1u)
  SHA256_ROUND(41, 0xa81a664bu)
  SHA256_ROUND(42, 0xc24b8b70u)
  SHA256_ROUND(43, 0xc76c51a3u)
  SHA256_ROUND(44, 0xd192e819u)
  SHA256_ROUND(45, 0xd6990624u)
  SHA256_ROUND(46, 0xf40e3585u)
  SHA256_ROUND(47, 0x106aa070u)
  sha256_schedule(w);
  SHA256_ROUND(48, 0x19a4c116u)
  SHA256_ROUND(49, 0x1e376c08u)
  SHA256_ROUND(50, 0x2748774cu)
  SHA256_ROUND(51, 0x34b0bcb5u)
  SHA256_ROUND(52, 0x391c0cb3u)
  SHA256_ROUND(53, 0x4ed8aa4au)
  SHA256_ROUND(54, 0x5b9cca4fu)
  SHA256_ROUND(55, 0x682e6ff3u)
  SHA256_ROUND(56, 0x748f82eeu)
  SHA256_ROUND(57, 0x78a5636fu)
  SHA256_ROUND(58, 0x84c87814u)
  SHA256_ROUND(59, 0x8cc70208u)
  SHA256_ROUND(60, 0x90befffau)
  SHA256_ROUND(61, 0xa4506cebu)
  SHA256_ROUND(62, 0xbef9a3f7u)
  SHA256_ROUND(63, 0xc67178f2u)
  UNROLL for (int i = 0; i < 8; ++i) state[i] += s[i];
}
