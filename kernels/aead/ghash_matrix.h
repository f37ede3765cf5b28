// GHASH (SP 800-38D, 6.4) by bit matrices, for warps that can multiply them: CUDA's tensor cores.
//
// Multiplying by a fixed power of H is multiplying a row of 128 bits by a 128 x 128 matrix. So a
// tile of blocks is hashed by one product of matrices:
//   tile      512 blocks, number 256 q + 128 h + 32 d + thread
//   row       (q, h, thread / 4): the sum of 16 blocks, those of the four depths d and of four
//             neighbouring threads (t = thread % 4), each times H^(32 (3 - d) + 3 - t)
//   columns   the 128 bits of the sum, in 16 groups of 8
// Words of blocks are operands as they come from memory. A thread gets two columns of each group.
// They are chosen such that their bits make up the word of the thread's row that it must hold for
// the next step, which multiplies the row by H^512.
//
// A run may begin `skew` bytes after a multiple of 16. Then a memory block has the last `skew`
// bytes of one block of the run, and the first bytes of the next one. It is used as an operand
// unchanged: multiplication is linear, and the matrices give each byte its weight within its own
// block. Such matrices serve only runs with this skew.
//
// A block costs half an instruction m16n8k256 and 17 words of shared memory, against 144
// multiplications and as many logical operations by gf128.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ghash.h"
#include "kernels/block/bitslice/planes.h"
#include "kernels/block/unaligned.h"

// Returns the index in matrices[] of the word for group `j` of columns and the thread that holds
// column g and part t of the rows. The word belongs to depth d and word w of the block or, if d is
// 4, to the step to the next tile.
FN u32 ghash_matrix_place(u32 j, u32 g, u32 t, u32 d, u32 w) {
  const u32 thread = 4 * g + t;
  return d == 4 ? 8192 + 32 * j + thread : 512 * j + 128 * d + 4 * thread + w;
}

// Computes matrices. A thread computes 32 rows (word w of a block) by 32 columns (word `out` of the
// sum), for one depth d and thread t, or for the step to the next tile. `sets` has the GHASH_SET of
// each.
KERNEL(ghash_matrices, HASH_KEY_THREADS)
(GLOBAL const u32 *sets, u32 count, GLOBAL const u32 *powers, u32 levels, GLOBAL u32 *matrices) {
  LET_NEXT_BEGIN();
  AWAIT_BEFORE();
  const u32 all = count * GHASH_MATRIX_ENTRIES;
  for (u32 n = thread_block_id() * thread_block_size() + thread_id(); n < all;
       n += thread_block_count() * thread_block_size()) {
    const u32 entry = n % GHASH_MATRIX_ENTRIES, set = n / GHASH_MATRIX_ENTRIES;
    const u32 out = entry % 4, w = entry / 4 % 4, slot = entry / 16;
    const u32 d = slot / 4, t = slot == 16 ? w : slot % 4;
    GLOBAL const u32 *table = powers + (u64)GHASH_SET_KEY(sets[set]) * levels * GHASH_LEVEL_WORDS;
    const u32 skew = slot == 16 ? 0 : GHASH_SET_SKEW(sets[set]);
    const u32 power = slot == 16 ? 512 : 32 * (3 - d) + 3 - t;
    // The first of the 32 rows belongs to byte 4 w of a memory block; `byte` is that byte's
    // position in its block of the run.
    const u32 byte = (4 * w + 16 - skew) % 16;
    const Gf128 first = ghash_small_power(table, power);
    Gf128 v = first;
    if (4 * w < skew) v = gf128_multiply(v, ghash_load(table + 4));
    for (u32 i = 0; i < 8 * byte; ++i) v = gf128_times_x(v);
    u32 bits[32];
    UNROLL for (u32 i = 0; i < 32; ++i) {
      if (i % 8 == 0 && 4 * w + i / 8 == skew) v = first;
      // In memory, the first bit of a byte is the most significant.
      bits[i ^ 7] = gf128_to_block(v).w[out];
      v = gf128_times_x(v);
    }
    block_transpose(bits);
    GLOBAL u32 *to = matrices + (u64)set * GHASH_MATRIX_WORDS;
    UNROLL for (u32 bit = 0; bit < 32; ++bit) {
      to[ghash_matrix_place(15 - bit % 16, 2 * out + bit / 16, t, d, w)] = bits[bit];
    }
  }
}

#ifdef LC_BIT_MATRICES

// Returns a mask for the word that begins at byte `at` of a block: all bits of the bytes from
// `first` on.
FN u32 ghash_bytes_from(u32 first, u32 at) {
  return first <= at ? 0xffffffffu : first - at < 4 ? 0xffffffffu << (8 * (first - at)) : 0;
}

// Returns memory block `number`, with bytes outside `begin` up to `end`, counted from memory block
// 0, set to zero. A memory block without such bytes is not read.
FN Block ghash_memory_block(GLOBAL const u8 *from, u64 begin, u64 end, u64 number) {
  Block b = {{0, 0, 0, 0}};
  const u64 at = 16 * number;
  if (at >= end || begin >= end) return b;
  b = load_block(from + at);
  const u32 first = begin > at ? (u32)(begin - at) : 0;
  const u32 behind = end - at < 16 ? (u32)(end - at) : 16;
  UNROLL for (u32 w = 0; w < 4; ++w) {
    b.w[w] &= ghash_bytes_from(first, 4 * w) & ~ghash_bytes_from(behind, 4 * w);
  }
  return b;
}

// Writes word `w` and the next one of two rows to adjacent registers, as a product needs them. XOR
// with `zero` forces that: the compiler would repeat plain copies for each of the 16 products, and
// they take longer than the product.
FN void ghash_matrix_operands(u32 *words, Block top, Block bottom, u32 w, u32 zero) {
  words[0] = top.w[w] ^ zero;
  words[1] = bottom.w[w] ^ zero;
  words[2] = top.w[w + 1] ^ zero;
  words[3] = bottom.w[w + 1] ^ zero;
}

// Finishes a run after its tiles: multiplies each row by its power, one row per thread, and adds
// them up. `end` is the power of the run's last block, and `last` is the part of that block that
// lies in no tile.
FN void ghash_matrix_finish(const u32 *rows, Block last, GLOBAL const u32 *table, u64 end,
                            GLOBAL u32 *hash, SHARED u32 *scratch) {
  const u32 thread = thread_id() % 32;
  UNROLL for (u32 r = 0; r < 4; ++r) scratch[32 * r + thread] = rows[r];
  warp_barrier();
  Block row = {{scratch[4 * thread], scratch[4 * thread + 1], scratch[4 * thread + 2],
                scratch[4 * thread + 3]}};
  if (thread == 31) row = block_xor(row, last);
  const u64 exponent =
      end + 4 * (7 - thread % 8) + 128 * (1 - thread / 8 % 2) + 256 * (1 - thread / 16);
  const Gf128 sum = ghash_weigh_one(gf128_of_block(row), table, exponent);
  warp_barrier();
  UNROLL for (u32 w = 0; w < 4; ++w) scratch[4 * thread + w] = sum.w[w];
  warp_barrier();
  if (thread < 4) {
    u32 word = 0;
    for (u32 n = 0; n < 32; ++n) word ^= scratch[4 * n + thread];
    hash[thread] = word;
  }
  warp_barrier();
}

#endif

// Hashes the runs of batches. Each thread block takes a batch and copies its matrices to shared
// memory; each of its warps takes a run. `hashes` is as for ghash_runs. This kernel is for runs
// that have the skew of their matrices.
#define GHASH_MATRIX_RUNS ghash_matrix_runs
#define GHASH_SKEW(from) unaligned_skew(from)
#define GHASH_TAKE(x, from) \
  UNROLL for (u32 i = 0; i < 16; ++i) x[i] = load_block((from) + 16 * (32 * i))
#define GHASH_TAKE_ONE(number) ghash_memory_block(from, skew, skew + length, number)
#include "ghash_matrix_runs.inc"
#undef GHASH_MATRIX_RUNS
#undef GHASH_SKEW
#undef GHASH_TAKE
#undef GHASH_TAKE_ONE

// The kernel for runs of one key with different skews: their matrices are those of skew 0.
#define GHASH_MATRIX_RUNS ghash_matrix_runs_unaligned
#define GHASH_SKEW(from) 0
#define GHASH_TAKE(x, from) unaligned_load(x, 16, from, scratch)
#define GHASH_TAKE_ONE(number) load_part(from + 16 * (number), length - 16 * (number), 0)
#include "ghash_matrix_runs.inc"
#undef GHASH_MATRIX_RUNS
#undef GHASH_SKEW
#undef GHASH_TAKE
#undef GHASH_TAKE_ONE
