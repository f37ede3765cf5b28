// Keccak-f[1600] (FIPS 202, sections 3.3 and 3.4) by one thread, which has the 25 words in
// registers. Word x + 5 * y holds bytes 8 * (x + 5 * y) and up of the state, the first byte least
// significant.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/platform.h"

TABLE u64 kKeccakRound[24] = {
    0x0000000000000001ul, 0x0000000000008082ul, 0x800000000000808aul, 0x8000000080008000ul,
    0x000000000000808bul, 0x0000000080000001ul, 0x8000000080008081ul, 0x8000000000008009ul,
    0x000000000000008aul, 0x0000000000000088ul, 0x0000000080008009ul, 0x000000008000000aul,
    0x000000008000808bul, 0x800000000000008bul, 0x8000000000008089ul, 0x8000000000008003ul,
    0x8000000000008002ul, 0x8000000000000080ul, 0x000000000000800aul, 0x800000008000000aul,
    0x8000000080008081ul, 0x8000000000008080ul, 0x0000000080000001ul, 0x8000000080008008ul,
};

// `keccak_f1600` applies the 24 rounds to `a` (FIPS 202, Algorithm 7, KECCAK-p[1600, 24]). The loop
// is not unrolled: 24 copies of a round would not fit into the instruction cache.
FN void keccak_f1600(u64 *a) {
  ROLLED for (int round = 0; round < 24; ++round) {
    u64 b[25], c[5], d[5];
    UNROLL for (int x = 0; x < 5; ++x) {
      c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
    }
    UNROLL for (int x = 0; x < 5; ++x) {
      d[x] = c[(x + 4) % 5] ^ ROTATE_LEFT_64(c[(x + 1) % 5], 1);
    }
    b[0] = a[0] ^ d[0];
    b[10] = ROTATE_LEFT_64(a[1] ^ d[1], 1);
    b[20] = ROTATE_LEFT_64(a[2] ^ d[2], 62);
    b[5] = ROTATE_LEFT_64(a[3] ^ d[3], 28);
    b[15] = ROTATE_LEFT_64(a[4] ^ d[4], 27);
    b[16] = ROTATE_LEFT_64(a[5] ^ d[0], 36);
    b[1] = ROTATE_LEFT_64(a[6] ^ d[1], 44);
    b[11] = ROTATE_LEFT_64(a[7] ^ d[2], 6);
    b[21] = ROTATE_LEFT_64(a[8] ^ d[3], 55);
    b[6] = ROTATE_LEFT_64(a[9] ^ d[4], 20);
    b[7] = ROTATE_LEFT_64(a[10] ^ d[0], 3);
    b[17] = ROTATE_LEFT_64(a[11] ^ d[1], 10);
    b[2] = ROTATE_LEFT_64(a[12] ^ d[2], 43);
    b[12] = ROTATE_LEFT_64(a[13] ^ d[3], 25);
    b[22] = ROTATE_LEFT_64(a[14] ^ d[4], 39);
    b[23] = ROTATE_LEFT_64(a[15] ^ d[0], 41);
    b[8] = ROTATE_LEFT_64(a[16] ^ d[1], 45);
    b[18] = ROTATE_LEFT_64(a[17] ^ d[2], 15);
    b[3] = ROTATE_LEFT_64(a[18] ^ d[3], 21);
    b[13] = ROTATE_LEFT_64(a[19] ^ d[4], 8);
    b[14] = ROTATE_LEFT_64(a[20] ^ d[0], 18);
    b[24] = ROTATE_LEFT_64(a[21] ^ d[1], 2);
    b[9] = ROTATE_LEFT_64(a[22] ^ d[2], 61);
    b[19] = ROTATE_LEFT_64(a[23] ^ d[3], 56);
    b[4] = ROTATE_LEFT_64(a[24] ^ d[4], 14);
    UNROLL for (int y = 0; y < 25; y += 5) {
      UNROLL for (int x = 0; x < 5; ++x) {
        a[y + x] = b[y + x] ^ (~b[y + (x + 1) % 5] & b[y + (x + 2) % 5]);
      }
    }
    a[0] ^= kKeccakRound[round];
  }
}
