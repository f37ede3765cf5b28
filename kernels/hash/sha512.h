// SHA-512 and SHA-384 (FIPS 180-4, sections 6.4 and 6.5): the compression of one block by one
// thread, as in sha256.h with words of 64 bits.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/platform.h"

#define SHA512_SIGMA(x, a, b, c) \
  (ROTATE_LEFT_64((x), 64 - (a)) ^ ROTATE_LEFT_64((x), 64 - (b)) ^ ROTATE_LEFT_64((x), 64 - (c)))
#define SHA512_SPREAD(x, a, b, shift) \
  (ROTATE_LEFT_64((x), 64 - (a)) ^ ROTATE_LEFT_64((x), 64 - (b)) ^ ((x) >> (shift)))
#define SHA512_CHOOSE(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define SHA512_MOST(x, y, z) (((x) & (y)) | ((z) & ((x) | (y))))

// Working variable `n` (0 to 7 for a to h) in round `i`.
#define SHA512_AT(n, i) s[((n) - (i)) & 7]

#define SHA512_ROUND(i, k)                                                              \
  SHA512_AT(7, i) += (w[(i)&15] + (k)) +                                                \
                     SHA512_CHOOSE(SHA512_AT(4, i), SHA512_AT(5, i), SHA512_AT(6, i)) + \
                     SHA512_SIGMA(SHA512_AT(4, i), 14, 18, 41);                         \
  SHA512_AT(3, i) += SHA512_AT(7, i);                                                   \
  SHA512_AT(7, i) += SHA512_SIGMA(SHA512_AT(0, i), 28, 34, 39) +                        \
                     SHA512_MOST(SHA512_AT(0, i), SHA512_AT(1, i), SHA512_AT(2, i));

// `sha512_schedule` replaces the last 16 words of the message schedule with the next 16 (FIPS
// 180-4, section 6.4.2, step 1).
FN void sha512_schedule(u64 *w) {
  UNROLL for (int i = 0; i < 16; ++i) {
    w[i] += SHA512_SPREAD(w[(i + 1) & 15], 1, 8, 7) + w[(i + 9) & 15] +
            SHA512_SPREAD(w[(i + 14) & 15], 19, 61, 6);
  }
}

// The initial hash value of SHA-512 (FIPS 180-4, section 5.3.5).
FN void sha512_start(u64 *state) {
  state[0] = 0x6a09e667f3bcc908ul;
  state[1] = 0xbb67ae8584caa73bul;
  state[2] = 0x3c6ef372fe94f82bul;
  state[3] = 0xa54ff53a5f1d36f1ul;
  state[4] = 0x510e527fade682d1ul;
  state[5] = 0x9b05688c2b3e6c1ful;
  state[6] = 0x1f83d9abfb41bd6bul;
  state[7] = 0x5be0cd19137e2179ul;
}

// The initial hash value of SHA-384 (FIPS 180-4, section 5.3.4).
FN void sha384_start(u64 *state) {
  state[0] = 0xcbbb9d5dc1059ed8ul;
  state[1] = 0x629a292a367cd507ul;
  state[2] = 0x9159015a3070dd17ul;
  state[3] = 0x152fecd8f70e5939ul;
  state[4] = 0x67332667ffc00b31ul;
  state[5] = 0x8eb44a8768581511ul;
  state[6] = 0xdb0c2e0d64f98fa7ul;
  state[7] = 0x47b5481dbefa4fa4ul;
}

// `sha512_compress` hashes one block of 16 words into the state (FIPS 180-4, section 6.4.2). `w` is
// overwritten as in sha256_compress().
FN void sha512_compress(u64 *state, u64 *w) {
  u64 s[8];
  UNROLL for (int i = 0; i < 8; ++i) s[i] = state[i];
  SHA512_ROUND(0, 0x428a2f98d728ae22ul)
  SHA512_ROUND(1, 0x7137449123ef65cdul)
  SHA512_ROUND(2, 0xb5c0fbcfec4d3b2ful)
  SHA512_ROUND(3, 0xe9b5dba58189dbbcul)
  SHA512_ROUND(4, 0x3956c25bf348b538ul)
  SHA512_ROUND(5, 0x59f111f1b605d019ul)
  SHA512_ROUND(6, 0x923f82a4af194f9bul)
  SHA512_ROUND(7, 0xab1c5ed5da6d8118ul)
  SHA512_ROUND(8, 0xd807aa98a3030242ul)
  SHA512_ROUND(9, 0x12835b0145706fbeul)
  SHA512_ROUND(10, 0x243185be4ee4b28cul)
  SHA512_ROUND(11, 0x550c7dc3d5ffb4e2ul)
  SHA512_ROUND(12, 0x72be5d74f27b896ful)
  SHA512_ROUND(13, 0x80deb1fe3b1696b1ul)
  SHA512_ROUND(14, 0x9bdc06a725c71235ul)
  SHA512_ROUND(15, 0xc19bf174cf692694ul)
  sha512_schedule(w);
  SHA512_ROUND(16, 0xe49b69c19ef14ad2ul)
  SHA512_ROUND(17, 0xefbe4786384f25e3ul)
  SHA512_ROUND(18, 0x0fc19dc68b8cd5b5ul)
  SHA512_ROUND(19, 0x240ca1cc77ac9c65ul)
  SHA512_ROUND(20, 0x2de92c6f592b0275ul)
  SHA512_ROUND(21, 0x4a7484aa6ea6e483ul)
  SHA512_ROUND(22, 0x5cb0a9dcbd41fbd4ul)
  SHA512_ROUND(23, 0x76f988da831153b5ul)
  SHA512_ROUND(24, 0x983e5152ee66dfabul)
  SHA512_ROUND(25, 0xa831c66d2db43210ul)
  SHA512_ROUND(26, 0xb00327c898fb213ful)
  SHA512_ROUND(27, 0xbf597fc7beef0ee4ul)
  SHA512_ROUND(28, 0xc6e00bf33da88fc2ul)
  SHA512_ROUND(29, 0xd5a79147930aa725ul)
  SHA512_ROUND(30, 0x06ca6351e003826ful)
  SHA512_ROUND(31, 0x142929670a0e6e70ul)
  sha512_schedule(w);
  SHA512_ROUND(32, 0x27b70a8546d22ffcul)
  SHA512_ROUND(33, 0x2e1b21385c26c926ul)
  SHA512_ROUND(34, 0x4d2c6dfc5ac42aedul)
  SHA512_ROUND(35, 0x53380d139d95b3dful)
  SHA512_ROUND(36, 0x650a73548baf63deul)
  SHA512_ROUND(37, 0x766a0abb3c77b2a8ul)
  SHA512_ROUND(38, 0x81c2c92e47edaee6ul)
  SHA512_ROUND(39, 0x92722c851482353bul)
  SHA512_ROUND(40, 0xa2bfe8a14cf10364ul)
  SHA512_ROUND(41, 0xa81a664bbc423001ul)
  SHA512_ROUND(42, 0xc24b8b70d0f89791ul)
  SHA512_ROUND(43, 0xc76c51a30654be30ul)
  SHA512_ROUND(44, 0xd192e819d6ef5218ul)
  SHA512_ROUND(45, 0xd69906245565a910ul)
  SHA512_ROUND(46, 0xf40e35855771202aul)
  SHA512_ROUND(47, 0x106aa07032bbd1b8ul)
  sha512_schedule(w);
  SHA512_ROUND(48, 0x19a4c116b8d2d0c8ul)
  SHA512_ROUND(49, 0x1e376c085141ab53ul)
  SHA512_ROUND(50, 0x2748774cdf8eeb99ul)
  SHA512_ROUND(51, 0x34b0bcb5e19b48a8ul)
  SHA512_ROUND(52, 0x391c0cb3c5c95a63ul)
  SHA512_ROUND(53, 0x4ed8aa4ae3418acbul)
  SHA512_ROUND(54, 0x5b9cca4f7763e373ul)
  SHA512_ROUND(55, 0x682e6ff3d6b2b8a3ul)
  SHA512_ROUND(56, 0x748f82ee5defb2fcul)
  SHA512_ROUND(57, 0x78a5636f43172f60ul)
  SHA512_ROUND(58, 0x84c87814a1f0ab72ul)
  SHA512_ROUND(59, 0x8cc702081a6439ecul)
  SHA512_ROUND(60, 0x90befffa23631e28ul)
  SHA512_ROUND(61, 0xa4506cebde82bde9ul)
  SHA512_ROUND(62, 0xbef9a3f7b2c67915ul)
  SHA512_ROUND(63, 0xc67178f2e372532bul)
  sha512_schedule(w);
  SHA512_ROUND(64, 0xca273eceea26619cul)
  SHA512_ROUND(65, 0xd186b8c721c0c207ul)
  SHA512_ROUND(66, 0xeada7dd6cde0eb1eul)
  SHA512_ROUND(67, 0xf57d4f7fee6ed178ul)
  SHA512_ROUND(68, 0x06f067aa72176fbaul)
  SHA512_ROUND(69, 0x0a637dc5a2c898a6ul)
  SHA512_ROUND(70, 0x113f9804bef90daeul)
  SHA512_ROUND(71, 0x1b710b35131c471bul)
  SHA512_ROUND(72, 0x28db77f523047d84ul)
  SHA512_ROUND(73, 0x32caab7b40c72493ul)
  SHA512_ROUND(74, 0x3c9ebe0a15c9bebcul)
  SHA512_ROUND(75, 0x431d67c49c100d4cul)
  SHA512_ROUND(76, 0x4cc5d4becb3e42b6ul)
  SHA512_ROUND(77, 0x597f299cfc657e2aul)
  SHA512_ROUND(78, 0x5fcb6fab3ad6faecul)
  SHA512_ROUND(79, 0x6c44198c4a475817ul)
  UNROLL for (int i = 0; i < 8; ++i) state[i] += s[i];
}
