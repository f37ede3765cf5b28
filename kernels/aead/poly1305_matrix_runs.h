// The kernel of poly1305_matrix.h, which is included once for each way in which texts come and go:
//   POLY1305_MATRIX_RUNS       its name
//   CHACHA20_BEGIN  before the first of a run
//   CHACHA20_FETCH  begins to read 64 bytes of each lane of a warp, which lie side by side
//   CHACHA20_TAKE   has them
//   CHACHA20_PUT    writes them
//   CHACHA20_END    after the last
//
// SPDX-License-Identifier: Apache-2.0

KERNEL(POLY1305_MATRIX_RUNS, POLY1305_MATRIX_LANES)
(GLOBAL const HashRun *runs, GLOBAL const GhashBatch *batches, u32 count,
 GLOBAL const u32 *matrices, GLOBAL const CipherPiece *pieces, GLOBAL const u32 *keys,
 GLOBAL const u32 *one_time_keys, u32 opens, GLOBAL const u8 *in_base, GLOBAL u8 *out_base,
 GLOBAL u32 *hashes SHARED_PARAMETER) {
#ifdef LC_BIT_MATRICES
  SHARED_WORDS(words);
  SHARED u32 *scratch = words + POLY1305_MATRIX_WORDS + POLY1305_WARP_WORDS * (lane_id() / 32);
  SHARED u32 *shared = scratch + 384;
  const u32 lane = lane_id() % 32;
  for (u32 b = group_id(); b < count; b += group_count()) {
    GLOBAL const u32 *set = matrices + (u64)batches[b].matrices * POLY1305_MATRIX_WORDS;
    for (u32 i = lane_id(); i < POLY1305_MATRIX_WORDS; i += group_lanes()) words[i] = set[i];
    group_barrier();
    const u32 end = batches[b].first_run + batches[b].run_count;
    // By this vote the compiler knows that the lanes stay together. Otherwise it would gather them
    // before each exchange of words.
    for (u32 n = batches[b].first_run + lane_id() / 32; LANES_ANY(n < end);
         n += group_lanes() / 32) {
      GLOBAL const HashRun *run = runs + n;
      GLOBAL const CipherPiece *piece = pieces + run->piece;
      GLOBAL const u8 *in = in_base + piece->in + run->at;
      GLOBAL u8 *out = out_base + piece->out + run->at;
      GLOBAL const u32 *key = keys + (u64)piece->key * BLOCK_KEY_WORDS;
      const Block iv = block_iv(piece);
      const u32 first = (u32)(run->at / CHACHA20_BLOCK_BYTES);
      if (lane == 0) chacha20_share(shared, key, iv.w);
      warp_barrier();
      Poly hash = poly_zero();
      CHACHA20_BEGIN;
      for (u64 at = 0; LANES_ANY(at < run->length); at += POLY1305_TILE_BYTES) {
        u32 sums[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
        for (u32 d = 0; d < 4; ++d) {
          u32 text[2][16];
          UNROLL for (u32 h = 0; h < 2; ++h) {
            const u32 number = (u32)(at / CHACHA20_BLOCK_BYTES) + 64 * d + 32 * h + lane;
            Block data[5];
            u32 x[16];
            const u64 place = (u64)number * CHACHA20_BLOCK_BYTES;
            CHACHA20_FETCH(data, in + place);
            chacha20_shared_block(x, shared, first + number);
            CHACHA20_TAKE(data, in + place);
            // Picks the ciphertext by a multiplication: the ALU has enough to do.
            UNROLL for (u32 i = 0; i < 16; ++i) text[h][i] = opens * data[i / 4].w[i % 4];
            chacha20_xor(data, x);
            UNROLL for (u32 i = 0; i < 16; ++i) text[h][i] += (1 - opens) * data[i / 4].w[i % 4];
            CHACHA20_PUT(out + place, data);
          }
          UNROLL for (u32 pair = 0; pair < 4; ++pair) {
            SHARED const u32 *cell = words + 12 * (32 * (4 * d + pair) + lane);
            Block part[3];
            UNROLL for (u32 i = 0; i < 3; ++i) part[i] = load_local_block(cell + 4 * i);
            UNROLL for (u32 i = 0; i < 6; ++i) {
              const u32 w = 4 * pair + 2 * (i / 3), at_word = 2 * i;
              byte_matrix_32(sums + 4 * (i % 3), text[0][w], text[1][w], text[0][w + 1],
                             text[1][w + 1], part[at_word / 4].w[at_word % 4],
                             part[at_word / 4].w[at_word % 4 + 1], scratch);
            }
          }
        }
        hash = poly_next_tile(hash, sums, words, scratch);
      }
      CHACHA20_END(out + run->length);
      // Multiplies each row by its power, and adds up all rows.
      const Poly r = poly_load(one_time_keys + (u64)run->key * POLY1305_KEY_WORDS);
      hash = poly_multiply(hash, poly_power(r, 16 * (7 - lane % 8) + 128 * (1 - lane / 8 % 2)));
      if (lane < 16) {
        UNROLL for (u32 i = 0; i < 5; ++i) scratch[8 * lane + i] = hash.w[i];
      }
      warp_barrier();
      if (lane == 0) {
        u64 limbs[5] = {0, 0, 0, 0, 0};
        for (u32 l = 0; l < 16; ++l) {
          UNROLL for (u32 i = 0; i < 5; ++i) limbs[i] += scratch[8 * l + i];
        }
        hash = poly_carry(limbs);
        UNROLL for (u32 i = 0; i < 5; ++i) hashes[(u64)n * HASH_WORDS + i] = hash.w[i];
      }
      shared[lane] = 0;
      warp_barrier();
    }
    group_barrier();
  }
#else
  (void)runs, (void)batches, (void)count, (void)matrices, (void)pieces, (void)keys,
      (void)one_time_keys, (void)opens, (void)in_base, (void)out_base, (void)hashes;
#endif
}
