// The kernel of poly1305.h for runs without matrices, which is included once for each way in which
// texts come and go:
//   POLY1305_RUNS        its KERNEL line
//   POLY1305_EACH_BLOCK  a loop in which `number` is each of the lane's blocks of 64 bytes
//   POLY1305_HAS_BLOCK   whether there is such a block: a lane may take a trip for others
//   CHACHA20_BEGIN       before the first of a run
//   CHACHA20_FETCH       begins to read 64 bytes of each lane
//   CHACHA20_TAKE        has them
//   CHACHA20_PUT         writes them
//   CHACHA20_END         after the last
//   CHACHA20_LOAD_REST   reads and
//   CHACHA20_STORE_REST  writes what is left, less than 64 bytes, by one lane
//
// SPDX-License-Identifier: Apache-2.0

// Encrypts (opens 0) or decrypts runs of data, and hashes them. `at` counts from the
// start of the run's piece, in whole blocks of 64 bytes. The hashes are as those of
// ghash_runs, in limbs. Runs of additional data are only hashed. A group takes a run.
// Those that have matrices are left to chacha20_poly1305_matrix_runs.
POLY1305_RUNS(GLOBAL const HashRun *runs, GLOBAL const CipherPiece *pieces, GLOBAL const u32 *keys,
              GLOBAL const u32 *one_time_keys, u32 opens, GLOBAL const u8 *in_base,
              GLOBAL u8 *out_base, GLOBAL const u8 *aad, GLOBAL u32 *hashes SHARED_PARAMETER) {
  SHARED_WORDS(words);
  const u32 lanes = group_lanes();
  const u32 n = group_id();
  GLOBAL const HashRun *run = runs + n;
  const u32 has_data = run->source == HASH_SOURCE_DATA;
  GLOBAL const CipherPiece *piece = pieces + (has_data ? run->piece : 0);
  GLOBAL const u8 *in = has_data ? in_base + piece->in + run->at : aad + run->at;
  GLOBAL u8 *out = has_data ? out_base + piece->out + run->at : out_base;
  const u32 aligned = has_data ? block_aligned(in, out) : ((u64)in & 15) == 0;
  (void)aligned;
  GLOBAL const u32 *key = keys + (u64)(has_data ? piece->key : 0) * BLOCK_KEY_WORDS;
  const u64 first = has_data ? run->at / CHACHA20_BLOCK_BYTES : 0;
  u32 iv[4] = {0, 0, 0, 0};
  if (has_data) {
    UNROLL for (int i = 0; i < 4; ++i) iv[i] = piece->iv[i];
  }
  const u32 is_mine = run->matrices == HASH_NO_MATRICES;
  const u64 length = is_mine ? run->length : 0, whole = length / CHACHA20_BLOCK_BYTES;
  const Poly r = poly_load(one_time_keys + (u64)run->key * POLY1305_KEY_WORDS);
  const Poly r2 = poly_multiply(r, r), r4 = poly_multiply(r2, r2);
  if (lane_id() == 0) {
    poly_put_factor(POLY1305_FACTOR(0), poly_power(r4, lanes));
    poly_put_factor(POLY1305_FACTOR(1), poly_multiply(r2, r));
    poly_put_factor(POLY1305_FACTOR(2), r2);
    poly_put_factor(POLY1305_FACTOR(3), r);
    UNROLL for (int i = 0; i < 5; ++i) POLY1305_END[i] = 0;
  }
  group_barrier();

  Poly hash = poly_zero();
  u64 number = lane_id();
  CHACHA20_BEGIN;
  POLY1305_EACH_BLOCK {
    const u64 at = CHACHA20_BLOCK_BYTES * number;
    Block data[5];
    CHACHA20_FETCH(data, in + at);
    if (has_data) {
      u32 x[16];
      chacha20_block(x, key, iv, first + number);
      CHACHA20_TAKE(data, in + at);
      if (opens && POLY1305_HAS_BLOCK) hash = poly_absorb(hash, data, words);
      chacha20_xor(data, x);
      CHACHA20_PUT(out + at, data);
    } else {
      CHACHA20_TAKE(data, in + at);
    }
    if ((!has_data || !opens) && POLY1305_HAS_BLOCK) hash = poly_absorb(hash, data, words);
  }
  CHACHA20_END(out + CHACHA20_BLOCK_BYTES * whole);
  if (lane_id() < whole) {
    // The lanes after this one have taken later blocks.
    const u64 left = whole - 1 - (number - lanes);
    if (left != 0) hash = poly_multiply(hash, poly_power(r4, left));
  }
  UNROLL for (int i = 0; i < 5; ++i) POLY1305_HASH(lane_id())[i] = hash.w[i];

  // One lane does the rest of the run.
  const u32 rest = (u32)(length % CHACHA20_BLOCK_BYTES);
  const u64 at = CHACHA20_BLOCK_BYTES * whole;
  if (rest != 0 && number == whole) {
    Block data[4];
    CHACHA20_LOAD_REST(data, in + at, rest);
    if (has_data) {
      Block plain[4];
      u32 x[16];
      UNROLL for (u32 i = 0; i < 4; ++i) plain[i] = data[i];
      chacha20_block(x, key, iv, first + number);
      chacha20_xor(plain, x);
      CHACHA20_STORE_REST(out + at, plain, rest);
      // Only the bytes that were written are hashed. If they are the ciphertext, they are
      // read back.
      if (!opens) CHACHA20_LOAD_REST(data, out + at, rest);
    }
    Poly end = poly_zero();
    UNROLL for (u32 i = 0; i < 4; ++i) {
      if (16 * i < rest) {
        if (i != 0) end = poly_multiply(end, r);
        end = poly_add(end, poly_of_block(data[i]));
      }
    }
    UNROLL for (int i = 0; i < 5; ++i) POLY1305_END[i] = end.w[i];
  }
  group_barrier();
  if (lane_id() == 0 && is_mine) {
    u64 sums[5] = {0, 0, 0, 0, 0};
    for (u32 l = 0; l < lanes; ++l) {
      UNROLL for (int i = 0; i < 5; ++i) sums[i] += POLY1305_HASH(l)[i];
    }
    hash = poly_carry(sums);
    hash = poly_multiply(hash, poly_power(r, (rest + 15) / 16));
    UNROLL for (int i = 0; i < 5; ++i) sums[i] = (u64)hash.w[i] + POLY1305_END[i];
    hash = poly_carry(sums);
    UNROLL for (int i = 0; i < 5; ++i) hashes[(u64)n * HASH_WORDS + i] = hash.w[i];
  }
}
