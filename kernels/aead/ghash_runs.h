// The kernel of ghash.h for runs without matrices, which is included once for each way in which
// texts come:
//   GHASH_RUNS                its name
//   GHASH_TAKE(from, length)  the block at `from`, of which there are so many bytes or all 16, and
//                             then zeros
//
// SPDX-License-Identifier: Apache-2.0

// Hashes each run, a group a run: hashes[HASH_WORDS * run]. Runs
// that have matrices are left to ghash_matrix_runs. (No loop is around a barrier here or
// in the sums: OpenCL on a CPU gets those wrong.)
KERNEL(GHASH_RUNS, HASH_RUN_LANES)
(GLOBAL const HashRun *runs, GLOBAL const u32 *powers, u32 levels, GLOBAL const u8 *data,
 GLOBAL const u8 *aad, GLOBAL u32 *hashes SHARED_PARAMETER) {
  SHARED_WORDS(sums);
  const u32 lanes = group_lanes();
  GLOBAL const HashRun *run = runs + group_id();
  GLOBAL u32 *hash = hashes + (u64)group_id() * HASH_WORDS;
  GLOBAL const u8 *from = (run->source == HASH_SOURCE_AAD ? aad : data) + run->at;
  GLOBAL const u32 *table = powers + (u64)run->key * levels * GHASH_LEVEL_WORDS;
  const u32 is_mine = run->matrices == HASH_NO_MATRICES;
  const u64 length = run->length, blocks = is_mine ? (length + 15) / 16 : 0;
  const u32 aligned = ((u64)from & 15) == 0;
  (void)aligned;
  Gf128 sum = {{0, 0, 0, 0}};
  if (lane_id() < blocks) {
    const Gf128 step = ghash_small_power(table, lanes);
    u64 i = lane_id();
    sum = gf128_of_block(GHASH_TAKE(from + 16 * i, length - 16 * i));
    for (; i + lanes < blocks;) {
      i += lanes;
      sum = gf128_add(gf128_multiply(sum, step),
                      gf128_of_block(GHASH_TAKE(from + 16 * i, length - 16 * i)));
    }
    sum = ghash_weigh_one(sum, table, run->exponent + (blocks - 1 - i));
  }
  UNROLL for (u32 w = 0; w < 4; ++w) sums[4 * lane_id() + w] = sum.w[w];
  group_barrier();
  if (is_mine) {
    for (u32 w = lane_id(); w < 4; w += lanes) {
      u32 word = 0;
      for (u32 n = 0; n < lanes; ++n) word ^= sums[4 * n + w];
      hash[w] = word;
    }
  }
}
