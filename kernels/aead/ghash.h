// GHASH (SP 800-38D, 6.4, Algorithm 2) of many runs at once, for GCM. The threads of a thread block
// take the blocks of a run in turn. Each thread multiplies by the power of H that skips the other
// threads' blocks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gf128.h"
#include "kernels/aead_layout.h"
#include "kernels/block/unaligned.h"

FN Gf128 ghash_load(GLOBAL const u32 *from) {
  const Block b = load_block((GLOBAL const u8 *)from);
  Gf128 a = {{b.w[0], b.w[1], b.w[2], b.w[3]}};
  return a;
}

FN void ghash_store(GLOBAL u32 *to, Gf128 a) {
  Block b = {{a.w[0], a.w[1], a.w[2], a.w[3]}};
  store_block((GLOBAL u8 *)to, b);
}

// Returns H^exponent, for an exponent below 1024, from the first two levels of a table.
FN Gf128 ghash_small_power(GLOBAL const u32 *powers, u32 exponent) {
  if (exponent < 32) return ghash_load(powers + 4 * exponent);
  const Gf128 high = ghash_load(powers + GHASH_LEVEL_WORDS + 4 * (exponent / 32));
  if (exponent % 32 == 0) return high;
  return gf128_multiply(high, ghash_load(powers + 4 * (exponent % 32)));
}

// Returns a * H^exponent, for any exponent that the table's levels cover.
FN Gf128 ghash_weigh_one(Gf128 a, GLOBAL const u32 *powers, u64 exponent) {
  for (u32 level = 0; exponent != 0; ++level, exponent >>= 5) {
    const u32 digit = (u32)exponent & 31;
    if (digit != 0)
      a = gf128_multiply(a, ghash_load(powers + level * GHASH_LEVEL_WORDS + 4 * digit));
  }
  return a;
}

// Computes tables of powers, one entry per thread. `blocks` has H of key n as block n.
KERNEL(ghash_powers, HASH_KEY_THREADS)
(GLOBAL const u32 *blocks, GLOBAL u32 *powers, u32 keys, u32 levels) {
  LET_NEXT_BEGIN();
  AWAIT_BEFORE();
  const u64 entries = (u64)keys * levels * 32;
  for (u64 n = thread_block_id() * thread_block_size() + thread_id(); n < entries;
       n += thread_block_count() * thread_block_size()) {
    const u32 key = (u32)(n / (levels * 32)), level = (u32)(n / 32) % levels, j = (u32)n % 32;
    Gf128 h = gf128_of_block(load_block((GLOBAL const u8 *)(blocks + 4 * (u64)key)));
    for (u32 i = 0; i < 5 * level; ++i) h = gf128_square(h);
    ghash_store(powers + 4 * n, gf128_power(h, j));
  }
}

// Loads a block of `length` bytes, at most 16, from any address, padded with zeros. Full blocks are
// read by the memory blocks in which they lie.
FN Block ghash_block_unaligned(GLOBAL const u8 *from, u64 length) {
  if (length < 16) return block_load_bytes(from, (u32)length);
  const u32 skew = unaligned_skew(from);
  const Block first = load_block(from - skew);
  return skew == 0 ? first : unaligned_join(first, load_block(from - skew + 16), skew);
}

// The kernel for runs at multiples of 16.
#define GHASH_RUNS ghash_runs
#define GHASH_TAKE(from, length) load_part(from, length, aligned)
#include "ghash_runs.inc"
#undef GHASH_RUNS
#undef GHASH_TAKE

// The kernel for unaligned runs.
#define GHASH_RUNS ghash_runs_unaligned
#define GHASH_TAKE(from, length) ghash_block_unaligned(from, length)
#include "ghash_runs.inc"
#undef GHASH_RUNS
#undef GHASH_TAKE

// Adds up each piece's hashes, one thread block per piece, and writes the block that is XORed into
// the tag to results[4 * piece]. The masks are blocks from `first_mask` on.
KERNEL(ghash_sums, HASH_SUM_THREADS)
(GLOBAL const HashSum *pieces, GLOBAL const u32 *powers, u32 levels, GLOBAL const u32 *blocks,
 u32 first_mask, GLOBAL const u32 *hashes, GLOBAL u32 *results SHARED_PARAMETER) {
  SHARED_WORDS(sums);
  // Read before the wait, while the runs are still being hashed, since it may lie in host memory.
  // It was written before this stream's last launch that did not overlap its predecessor.
  const HashSum piece = pieces[thread_block_id()];
  LET_NEXT_BEGIN();
  AWAIT_BEFORE();
  Gf128 sum = {{0, 0, 0, 0}};
  // The last thread computes the block of lengths and the mask. It is usually in another warp than
  // the threads that add up hashes.
  if (piece.closes && thread_id() == thread_block_size() - 1) {
    const Block lengths = {
        {piece.lengths[0], piece.lengths[1], piece.lengths[2], piece.lengths[3]}};
    GLOBAL const u32 *table = powers + (u64)piece.key * levels * GHASH_LEVEL_WORDS;
    GLOBAL const u32 *mask = blocks + 4 * ((u64)first_mask + piece.mask);
    sum = gf128_add(gf128_multiply(gf128_of_block(lengths), ghash_load(table + 4)),
                    gf128_of_block(load_block((GLOBAL const u8 *)mask)));
  }
  // Four at a time, since each read takes long.
  for (u32 n = thread_id(); n < piece.run_count; n += 4 * thread_block_size()) {
    UNROLL for (u32 k = 0; k < 4; ++k) {
      const u32 run = n + k * thread_block_size(), is_there = run < piece.run_count;
      const Gf128 hash =
          ghash_load(hashes + (u64)(piece.first_run + (is_there ? run : n)) * HASH_WORDS);
      if (is_there) sum = gf128_add(sum, hash);
    }
  }
  UNROLL for (u32 w = 0; w < 4; ++w) sums[4 * thread_id() + w] = sum.w[w];
  thread_block_barrier();
  for (u32 w = thread_id(); w < 4; w += thread_block_size()) {
    u32 word = 0;
    for (u32 n = 0; n < thread_block_size(); ++n) word ^= sums[4 * n + w];
    sums[w] = word;
  }
  thread_block_barrier();
  if (thread_id() == 0) {
    UNROLL for (u32 w = 0; w < 4; ++w) sum.w[w] = sums[w];
    store_block((GLOBAL u8 *)(results + 4 * (u64)thread_block_id()), gf128_to_block(sum));
  }
}
