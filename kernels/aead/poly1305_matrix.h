// ChaCha20-Poly1305 (RFC 8439, 2.8) with the hash by byte matrices, for warps that can multiply
// them: CUDA's tensor cores. A byte of the message at a given position of a tile contributes its
// value times a fixed number modulo 2^130 - 5, which has 17 bytes. The hash of a tile is the sum of
// those products:
//   tile      256 blocks of 64 bytes, number 64 d + 32 h + thread
//   row       (h, thread / 4): the sum over the four depths d and four neighbouring threads
//             (t = thread % 4), as with GHASH (ghash_matrix.h)
//   columns   the 17 bytes of the numbers, in three groups of 8
// A sum of 1,024 products of bytes is less than 2^26, so carries can wait for the end of the tile.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chacha20_unaligned.h"
#include "poly1305.h"

// Offsets after the matrices: r^1024, and the contribution of the bits that Poly1305 sets above the
// blocks of a row.
#define POLY1305_STEP 6144u
#define POLY1305_BITS 6152u

// Normalizes limbs to exactly 26 bits.
FN Poly poly_normal(Poly a) {
  UNROLL for (int pass = 0; pass < 2; ++pass) {
    UNROLL for (int i = 0; i < 4; ++i) {
      a.w[i + 1] += a.w[i] >> 26;
      a.w[i] &= 0x3ffffffu;
    }
    a.w[0] += 5 * (a.w[4] >> 26);
    a.w[4] &= 0x3ffffffu;
  }
  a.w[1] += a.w[0] >> 26;
  a.w[0] &= 0x3ffffffu;
  return a;
}

// Returns a times 2^(8 bytes), for a result below 2^136.
FN Poly poly_shift(Poly a, u32 bytes) {
  Poly power = {{0, 0, 0, 0, 0}};
  UNROLL for (u32 i = 0; i < 5; ++i) {
    if (8 * bytes / 26 == i) power.w[i] = 1u << (8 * bytes % 26);
  }
  return poly_multiply(a, power);
}

// Computes matrices; `numbers` has the index of the one-time key of each. A thread computes the
// numbers of the four bytes of a word of a tile's rows, the word of depth d, thread t and index w,
// or what lies after the matrices.
KERNEL(poly1305_matrices, HASH_KEY_THREADS)
(GLOBAL const u32 *numbers, u32 count, GLOBAL const u32 *one_time_keys, GLOBAL u32 *matrices) {
  const u32 all = count * POLY1305_MATRIX_ENTRIES;
  for (u32 n = thread_block_id() * thread_block_size() + thread_id(); n < all;
       n += thread_block_count() * thread_block_size()) {
    const u32 entry = n % POLY1305_MATRIX_ENTRIES, set = n / POLY1305_MATRIX_ENTRIES;
    GLOBAL u32 *to = matrices + (u64)set * POLY1305_MATRIX_WORDS;
    const Poly r = poly_load(one_time_keys + (u64)numbers[set] * POLY1305_KEY_WORDS);
    if (entry == POLY1305_MATRIX_ENTRIES - 1) {
      const Poly r256 = poly_power(r, 256);
      Poly sixteen = poly_zero(), four = poly_zero();
      Poly one = {{1, 0, 0, 0, 0}};
      for (u32 i = 0; i < 16; ++i) sixteen = poly_add(poly_multiply(sixteen, r), one);
      for (u32 i = 0; i < 4; ++i) four = poly_add(poly_multiply(four, r256), one);
      const Poly step = poly_power(r256, 4), bits = poly_shift(poly_multiply(sixteen, four), 16);
      UNROLL for (int i = 0; i < 5; ++i) {
        to[POLY1305_STEP + i] = step.w[i];
        to[POLY1305_BITS + i] = bits.w[i];
      }
    } else {
      const u32 w = entry % 16, t = entry / 16 % 4, d = entry / 64, m = w / 2;
      const Poly power = poly_power(r, 256 * (3 - d) + 4 * (3 - t) + 3 - w / 4);
      u32 values[24];
      UNROLL for (u32 column = 0; column < 24; ++column) values[column] = 0;
      UNROLL for (u32 byte = 0; byte < 4; ++byte) {
        const Poly number = poly_normal(poly_shift(power, 4 * (w % 4) + byte));
        UNROLL for (u32 column = 0; column < 24; ++column) {
          // A byte may lie in two limbs.
          const u32 limb = 8 * column / 26, bit = 8 * column % 26;
          u32 value = 0;
          if (limb < 5) value = number.w[limb] >> bit;
          if (limb < 4 && bit > 18) value |= number.w[limb + 1] << (26 - bit);
          values[column] |= (value & 0xff) << (8 * byte);
        }
      }
      UNROLL for (u32 column = 0; column < 24; ++column) {
        const u32 thread = 4 * (column % 8) + t;
        to[((4 * d + m / 2) * 32 + thread) * 12 + 6 * (m % 2) + 2 * (column / 8) + w % 2] =
            values[column];
      }
    }
  }
}

#ifdef LC_BIT_MATRICES

// The initial states of the blocks of a message differ in one word, the counter. So three columns
// of round 1 and one step of round 2 are the same for all blocks. Writes to `shared` the initial
// state, with the counter of the message's first block, and then the state after the common steps.
FN void chacha20_share(SHARED u32 *shared, GLOBAL const u32 *key, const u32 *iv) {
  u32 x[16];
  chacha20_start(x, key, iv, 0);
  UNROLL for (int i = 0; i < 16; ++i) shared[i] = x[i];
  CHACHA20_QUARTER(1, 5, 9, 13);
  CHACHA20_QUARTER(2, 6, 10, 14);
  CHACHA20_QUARTER(3, 7, 11, 15);
  CHACHA20_STEP(2, 7, 13, 16);
  UNROLL for (int i = 0; i < 16; ++i) shared[16 + i] = x[i];
}

// Computes the keystream of block `number` of the message, if adding `number` to the counter makes
// no carry.
FN void chacha20_shared_block(u32 *x, SHARED const u32 *shared, u32 number) {
  UNROLL for (u32 i = 0; i < 4; ++i) {
    const Block part = load_shared_block(shared + 16 + 4 * i);
    UNROLL for (u32 w = 0; w < 4; ++w) x[4 * i + w] = part.w[w];
  }
  x[12] += number;
  CHACHA20_QUARTER(0, 4, 8, 12);
  CHACHA20_QUARTER(0, 5, 10, 15);
  CHACHA20_QUARTER(1, 6, 11, 12);
  CHACHA20_STEP(8, 13, 7, 12);
  CHACHA20_STEP(2, 7, 13, 8);
  CHACHA20_STEP(8, 13, 7, 7);
  CHACHA20_QUARTER(3, 4, 9, 14);
  chacha20_rounds(x, 9);
  UNROLL for (u32 i = 0; i < 4; ++i) {
    const Block part = load_shared_block(shared + 4 * i);
    UNROLL for (u32 w = 0; w < 4; ++w) x[4 * i + w] += part.w[w];
  }
  x[12] += number;
}

// Continues from one tile to the next: returns hash r^1024 plus the row's sums of the next tile.
FN Poly poly_next_tile(Poly hash, const u32 *sums, SHARED const u32 *words, SHARED u32 *scratch) {
  const u32 thread = thread_id() % 32;
  UNROLL for (u32 n = 0; n < 3; ++n) {
    UNROLL for (u32 i = 0; i < 4; ++i) {
      scratch[24 * (thread / 4 + 8 * (i / 2)) + 8 * n + 2 * (thread % 4) + i % 2] = sums[4 * n + i];
    }
  }
  warp_barrier();
  u64 limbs[5];
  UNROLL for (u32 i = 0; i < 5; ++i) limbs[i] = words[POLY1305_BITS + i];
  SHARED const u32 *row = scratch + 24 * (thread % 16);
  UNROLL for (u32 column = 0; column < 17; ++column) {
    limbs[8 * column / 26] += (u64)row[column] << (8 * column % 26);
  }
  Poly step;
  UNROLL for (u32 i = 0; i < 5; ++i) step.w[i] = words[POLY1305_STEP + i];
  poly_multiply_add(limbs, hash, poly_factor(step));
  warp_barrier();
  return poly_carry(limbs);
}

#endif

// Does the same as chacha20_poly1305_runs, for runs of whole tiles. They come in batches of runs of
// one message, and a warp takes a run. In this variant all addresses are multiples of 16.
#define POLY1305_MATRIX_RUNS chacha20_poly1305_matrix_runs
#define CHACHA20_FETCH(data, from) chacha20_load(data, from, CHACHA20_BLOCK_BYTES, 1)
#define CHACHA20_TAKE(data, from)
#define CHACHA20_PUT(to, data) chacha20_store(to, data, CHACHA20_BLOCK_BYTES, 1)
#define CHACHA20_BEGIN
#define CHACHA20_END(to)
#include "poly1305_matrix_runs.inc"
#undef POLY1305_MATRIX_RUNS
#undef CHACHA20_FETCH
#undef CHACHA20_TAKE
#undef CHACHA20_PUT
#undef CHACHA20_BEGIN
#undef CHACHA20_END

// The variant for unaligned texts.
#define POLY1305_MATRIX_RUNS chacha20_poly1305_matrix_runs_unaligned
#define CHACHA20_FETCH(data, from) chacha20_fetch_unaligned(data, from, 31)
#define CHACHA20_TAKE(data, from) chacha20_take_unaligned(data, from, 31, scratch)
#define CHACHA20_PUT(to, data) chacha20_store_unaligned(to, data, &before, 31, scratch)
#define CHACHA20_BEGIN UnalignedStore before = unaligned_begin()
#define CHACHA20_END(to) unaligned_end(to, &before)
#include "poly1305_matrix_runs.inc"
#undef POLY1305_MATRIX_RUNS
#undef CHACHA20_FETCH
#undef CHACHA20_TAKE
#undef CHACHA20_PUT
#undef CHACHA20_BEGIN
#undef CHACHA20_END
