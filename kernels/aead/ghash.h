// GHASH (SP 800-38D, 6.4) of many runs at once, for GCM. The threads of a thread block take the
// blocks of a run in turn. Each thread steps by the power of H that skips the blocks of the
// others.
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

// H^exponent, below 1024, from the first two levels of a table.
FN Gf128 ghash_small_power(GLOBAL const u32 *powers, u32 exponent) {
  if (exponent < 32) return ghash_load(powers + 4 * exponent);
  const Gf128 high = ghash_load(powers + GHASH_LEVEL_WORDS + 4 * (exponent / 32));
  if (exponent % 32 == 0) return high;
  return gf128_multiply(high, ghash_load(powers + 4 * (exponent % 32)));
}

// a H^exponent, for any exponent that the table's levels cover.
FN Gf128 ghash_weigh_one(Gf128 a, GLOBAL const u32 *powers, u64 exponent) {
  for (u32 level = 0; exponent != 0; ++level, exponent >>= 5) {
    const u32 digit = (u32)exponent & 31;
    if (digit != 0)
      a = gf128_multiply(a, ghash_load(powers + level * GHASH_LEVEL_WORDS + 4 * digit));
  }
  return a;
}

// Makes tables of powers, one entry for each thread. blocks: H of key n as a block at
// number n.
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

// A block at any address, of which there are so many bytes or all 16. What is read are the blocks
// of memory in which it lies.
FN Block ghash_block_unaligned(GLOBAL const u8 *from, u64 length) {
  if (length < 16) return block_load_bytes(from, (u32)length);
  const u32 skew = unaligned_skew(from);
  const Block first = load_block(from - skew);
  return skew == 0 ? first : unaligned_join(first, load_block(from - skew + 16), skew);
}

// This is the one for runs at multiples of 16.
#define GHASH_RUNS ghash_runs
#define GHASH_TAKE(from, length) load_part(from, length, aligned)
#include "ghash_runs.inc"
#undef GHASH_RUNS
#undef GHASH_TAKE

// The same for runs at any address.
#define GHASH_RUNS ghash_runs_unaligned
#define GHASH_TAKE(from, length) ghash_block_unaligned(from, length)
#include "ghash_runs.inc"
#undef GHASH_RUNS
#undef GHASH_TAKE

// Adds up every piece's hashes, a thread block a piece, to the block that is XORed into the tag:
// results[4 * piece]. The masks are blocks from first_mask on.
KERNEL(ghash_sums, HASH_SUM_THREADS)
(GLOBAL const HashSum *pieces, GLOBAL const u32 *powers, u32 levels, GLOBAL const u32 *blocks,
 u32 first_mask, GLOBAL const u32 *hashes, GLOBAL u32 *results SHARED_PARAMETER) {
  SHARED_WORDS(sums);
  // Read while the runs are hashed, since it may lie on the host. It was there before this stream's
  // last launch that began beside nothing.
  const HashSum piece = pieces[thread_block_id()];
  LET_NEXT_BEGIN();
  AWAIT_BEFORE();
  Gf128 sum = {{0, 0, 0, 0}};
  // What closes the message is made by the last thread, most often of another warp than adds up.
  if (piece.closes && thread_id() == thread_block_size() - 1) {
    const Block lengths = {
        {piece.lengths[0], piece.lengths[1], piece.lengths[2], piece.lengths[3]}};
    GLOBAL const u32 *table = powers + (u64)piece.key * levels * GHASH_LEVEL_WORDS;
    GLOBAL const u32 *mask = blocks + 4 * ((u64)first_mask + piece.mask);
    sum = gf128_add(gf128_multiply(gf128_of_block(lengths), ghash_load(table + 4)),
                    gf128_of_block(load_block((GLOBAL const u8 *)mask)));
  }
  // Four at once, since each look takes long.
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
