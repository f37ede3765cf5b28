// The kernel of ghash_matrix.h, which is included once for each way in which blocks come:
//   GHASH_MATRIX_RUNS  its name
//   GHASH_SKEW         how many bytes a run lies behind the first block that is read
//   GHASH_TAKE         the 16 blocks of each lane
//   GHASH_TAKE_ONE     a block that may be the run's in part, or not at all
//
// SPDX-License-Identifier: Apache-2.0

KERNEL(GHASH_MATRIX_RUNS, GHASH_MATRIX_LANES)
(GLOBAL const HashRun *runs, GLOBAL const GhashBatch *batches, u32 count,
 GLOBAL const u32 *matrices, GLOBAL const u32 *powers, u32 levels, GLOBAL const u8 *data,
 GLOBAL const u8 *aad, GLOBAL u32 *hashes SHARED_PARAMETER) {
#ifdef LC_BIT_MATRICES
  SHARED_WORDS(local);
  SHARED u32 *scratch = local + GHASH_MATRIX_WORDS + 256 * (lane_id() / 32);
  const u32 lane = lane_id() % 32;
  const u32 zero = levels / (GHASH_MOST_LEVELS + 1);  // which the compiler does not know
  for (u32 b = group_id(); b < count; b += group_count()) {
    GLOBAL const u32 *from_matrices = matrices + (u64)batches[b].matrices * GHASH_MATRIX_WORDS;
    for (u32 i = lane_id(); i < GHASH_MATRIX_WORDS; i += group_lanes()) local[i] = from_matrices[i];
    group_barrier();
    const u32 end = batches[b].first_run + batches[b].run_count;
    for (u32 r = batches[b].first_run + lane_id() / 32; r < end; r += group_lanes() / 32) {
      GLOBAL const HashRun *run = runs + r;
      GLOBAL const u8 *from = (run->source == HASH_SOURCE_AAD ? aad : data) + run->at;
      const u64 length = run->length, blocks = (length + 15) / 16;
      const u64 tiles = (blocks + GHASH_TILE_BLOCKS - 1) / GHASH_TILE_BLOCKS;
      const u32 skew = GHASH_SKEW(from);
      from -= skew;
      u32 rows[4] = {0, 0, 0, 0};  // (q, h) in order, word t of row lane / 4
      u64 number = blocks - tiles * GHASH_TILE_BLOCKS + lane;
      // The first tile may have blocks before the run, and the last less than its last block.
      const u64 whole_from = skew != 0 || blocks % GHASH_TILE_BLOCKS != 0 ? 1 : 0;
      const u64 whole_end = skew + length < 16 * blocks ? tiles - 1 : tiles;
      for (u64 tile = 0; tile < tiles; ++tile, number += GHASH_TILE_BLOCKS) {
        Block x[16];
        if (tile >= whole_from && tile < whole_end) {
          GHASH_TAKE(x, from + 16 * number);
        } else {
          const Block none = {{0, 0, 0, 0}};
          UNROLL for (u32 i = 0; i < 16; ++i) {
            const u64 one = number + 32 * i;
            x[i] = one < blocks ? GHASH_TAKE_ONE(one) : none;
          }
        }
        u32 words[4][2][2][4];
        UNROLL for (u32 d = 0; d < 4; ++d) {
          UNROLL for (u32 q = 0; q < 2; ++q) {
            ghash_matrix_operands(words[d][0][q], x[8 * q + d], x[8 * q + 4 + d], 0, zero);
            ghash_matrix_operands(words[d][1][q], x[8 * q + d], x[8 * q + 4 + d], 2, zero);
          }
        }
        u32 next[4] = {0, 0, 0, 0};
        for (u32 j = 0; j < 16; ++j) {
          SHARED const u32 *cell = local + 512 * j + 4 * lane;
          const u32 step = local[8192 + 32 * j + lane];
          u32 sums[8] = {0, 0, 0, 0, 0, 0, 0, 0};
          UNROLL for (u32 d = 0; d < 4; ++d) {
            const Block m = load_local_block(cell + 128 * d);
            UNROLL for (u32 half = 0; half < 2; ++half) {
              UNROLL for (u32 q = 0; q < 2; ++q) {
                const u32 *of = words[d][half][q];
                bit_matrix_256(sums + 4 * q, of[0], of[1], of[2], of[3], m.w[2 * half],
                               m.w[2 * half + 1], scratch);
              }
            }
          }
          UNROLL for (u32 q = 0; q < 2; ++q) {
            bit_matrix_128(sums + 4 * q, rows[2 * q], rows[2 * q + 1], step, scratch);
          }
          UNROLL for (u32 i = 0; i < 4; ++i) {
            const u32 pair = sums[2 * i] + (sums[2 * i + 1] << 16);
            next[i] = next[i] << 1 | (pair & 0x00010001u);
          }
        }
        UNROLL for (u32 i = 0; i < 4; ++i) rows[i] = next[i];
      }
      // What the last block has in the block of memory behind it.
      Block last = {{0, 0, 0, 0}};
      if (skew != 0) last = across_join(last, GHASH_TAKE_ONE(blocks), skew);
      ghash_matrix_finish(rows, last, powers + (u64)run->key * levels * GHASH_LEVEL_WORDS,
                          run->exponent, hashes + (u64)r * HASH_WORDS, scratch);
    }
    group_barrier();
  }
#else
  (void)runs, (void)batches, (void)count, (void)matrices, (void)powers, (void)levels, (void)data,
      (void)aad, (void)hashes;
#endif
}
