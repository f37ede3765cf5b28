// Camellia key expansion (RFC 3713, 2.2), one thread per key. The S-boxes consist of gates, so no
// address depends on a key. A schedule consists of groups of four words in order of use: kw1 and
// kw2; three pairs of round keys for each six rounds, with a pair for FL and FLINV between the
// sixes; kw3 and kw4. The bytes of each word are swapped, since kernels use words as they lie in
// memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/ciphers.h"
#include "kernels/camellia/camellia_sbox.h"

// Applies the S-boxes of F to the four bytes of a word, the most significant first: s1, s2, s3, s4
// or, if `turned`, s2, s3, s4, s1.
FN u32 camellia_sub_word(u32 word, u32 turned) {
  u32 result = 0;
  // s4 rotates its input by one bit; s2 and s3 rotate their output.
  UNROLL for (u32 n = 0; n < 4; ++n) {
    const u32 kind = (n + turned) & 3, shift = 24 - 8 * n;
    const u32 in = word >> shift & 0xff;
    const u32 x = kind == 3 ? (in << 1 | in >> 7) & 0xff : in;
    u32 planes[8], s = 0;
    UNROLL for (int i = 0; i < 8; ++i) planes[i] = x >> (7 - i);
    camellia_sbox_planes(planes);
    UNROLL for (int i = 0; i < 8; ++i) s |= (planes[i] & 1) << (7 - i);
    if (kind == 1) s = (s << 1 | s >> 7) & 0xff;
    if (kind == 2) s = (s << 7 | s >> 1) & 0xff;
    result |= s << shift;
  }
  return result;
}

// The F-function (RFC 3713, 2.4.1): adds F of x under the key (`high`, `low`) to y; x and y are two
// words each.
FN void camellia_add_f(u32 *y, const u32 *x, u32 high, u32 low) {
  const u32 z = camellia_sub_word(x[0] ^ high, 0), w = camellia_sub_word(x[1] ^ low, 1);
  u32 zb[8], out[8];
  UNROLL for (u32 n = 0; n < 4; ++n) {
    zb[n] = z >> (24 - 8 * n) & 0xff;
    zb[4 + n] = w >> (24 - 8 * n) & 0xff;
  }
  const u32 all = zb[0] ^ zb[1] ^ zb[2] ^ zb[3] ^ zb[4] ^ zb[5] ^ zb[6] ^ zb[7];
  out[0] = all ^ zb[1] ^ zb[4];
  out[1] = all ^ zb[2] ^ zb[5];
  out[2] = all ^ zb[3] ^ zb[6];
  out[3] = all ^ zb[0] ^ zb[7];
  out[4] = all ^ zb[2] ^ zb[3] ^ zb[4];
  out[5] = all ^ zb[0] ^ zb[3] ^ zb[5];
  out[6] = all ^ zb[0] ^ zb[1] ^ zb[6];
  out[7] = all ^ zb[1] ^ zb[2] ^ zb[7];
  y[0] ^= out[0] << 24 | out[1] << 16 | out[2] << 8 | out[3];
  y[1] ^= out[4] << 24 | out[5] << 16 | out[6] << 8 | out[7];
}

// Rotates four words left by `bits`; from[0] is the most significant.
FN void camellia_turn(u32 *to, const u32 *from, u32 bits) {
  UNROLL for (u32 n = 0; n < 4; ++n) {
    const u32 high = from[(n + bits / 32) & 3], low = from[(n + bits / 32 + 1) & 3];
    to[n] = bits % 32 == 0 ? high : high << (bits % 32) | low >> (32 - bits % 32);
  }
}

// Stores four words of a schedule: group `place` of `count` in order of encryption. Decryption uses
// the groups in reverse order and, except in the first and the last group, the second pair of words
// first.
FN void camellia_put(GLOBAL u32 *schedule, u32 step, u32 place, u32 count, const u32 *words,
                     u32 inverse) {
  const u32 swaps = inverse && place != 0 && place != count - 1 ? 2 : 0;
  GLOBAL u32 *to = schedule + step * (inverse ? count - 1 - place : place);
  UNROLL for (u32 n = 0; n < 4; ++n) to[n ^ swaps] = SWAP_BYTES(words[n]);
}

FN void camellia_put_turned(GLOBAL u32 *schedule, u32 step, u32 place, u32 count, const u32 *from,
                            u32 bits, u32 inverse) {
  u32 words[4];
  camellia_turn(words, from, bits);
  camellia_put(schedule, step, place, count, words, inverse);
}

// Key scheduling (RFC 3713, 2.2): derives KL, KR, KA and KB, and stores their rotations.
FN void camellia_expand(GLOBAL const u32 *key, GLOBAL u32 *schedule, u32 step, u32 key_words,
                        u32 inverse) {
  u32 kl[4], kr[4] = {0, 0, 0, 0}, ka[4], kb[4];
  UNROLL for (u32 n = 0; n < 4; ++n) kl[n] = SWAP_BYTES(key[n]);
  if (key_words > 4) {
    UNROLL for (u32 n = 0; n < 4; ++n) {
      kr[n] = key_words == 8 || n < 2 ? SWAP_BYTES(key[4 + n]) : ~SWAP_BYTES(key[2 + n]);
    }
  }
  UNROLL for (u32 n = 0; n < 4; ++n) ka[n] = kl[n] ^ kr[n];
  camellia_add_f(ka + 2, ka, 0xa09e667fu, 0x3bcc908bu);
  camellia_add_f(ka, ka + 2, 0xb67ae858u, 0x4caa73b2u);
  UNROLL for (u32 n = 0; n < 4; ++n) ka[n] ^= kl[n];
  camellia_add_f(ka + 2, ka, 0xc6ef372fu, 0xe94f82beu);
  camellia_add_f(ka, ka + 2, 0x54ff53a5u, 0xf1d36f1cu);
#define CAMELLIA_PUT(place, from, bits) \
  camellia_put_turned(schedule, step, place, count, from, bits, inverse)
  if (key_words == 4) {
    const u32 count = 13;
    u32 turned[4], other[4];
    CAMELLIA_PUT(0, kl, 0);
    CAMELLIA_PUT(1, ka, 0);
    CAMELLIA_PUT(2, kl, 15);
    CAMELLIA_PUT(3, ka, 15);
    CAMELLIA_PUT(4, ka, 30);
    CAMELLIA_PUT(5, kl, 45);
    camellia_turn(turned, ka, 45);
    camellia_turn(other, kl, 60);
    turned[2] = other[2];
    turned[3] = other[3];
    camellia_put(schedule, step, 6, count, turned, inverse);
    CAMELLIA_PUT(7, ka, 60);
    CAMELLIA_PUT(8, kl, 77);
    CAMELLIA_PUT(9, kl, 94);
    CAMELLIA_PUT(10, ka, 94);
    CAMELLIA_PUT(11, kl, 111);
    CAMELLIA_PUT(12, ka, 111);
  } else {
    const u32 count = 17;
    UNROLL for (u32 n = 0; n < 4; ++n) kb[n] = ka[n] ^ kr[n];
    camellia_add_f(kb + 2, kb, 0x10e527fau, 0xde682d1du);
    camellia_add_f(kb, kb + 2, 0xb05688c2u, 0xb3e6c1fdu);
    CAMELLIA_PUT(0, kl, 0);
    CAMELLIA_PUT(1, kb, 0);
    CAMELLIA_PUT(2, kr, 15);
    CAMELLIA_PUT(3, ka, 15);
    CAMELLIA_PUT(4, kr, 30);
    CAMELLIA_PUT(5, kb, 30);
    CAMELLIA_PUT(6, kl, 45);
    CAMELLIA_PUT(7, ka, 45);
    CAMELLIA_PUT(8, kl, 60);
    CAMELLIA_PUT(9, kr, 60);
    CAMELLIA_PUT(10, kb, 60);
    CAMELLIA_PUT(11, kl, 77);
    CAMELLIA_PUT(12, ka, 77);
    CAMELLIA_PUT(13, kr, 94);
    CAMELLIA_PUT(14, ka, 94);
    CAMELLIA_PUT(15, kl, 111);
    CAMELLIA_PUT(16, kb, 111);
  }
#undef CAMELLIA_PUT
}

#define BLOCK_CIPHER camellia
#define BLOCK_SCHEDULE_WORDS CAMELLIA_SCHEDULE_WORDS
#define BLOCK_EXPAND camellia_expand
#include "kernels/block/keys.inc"
