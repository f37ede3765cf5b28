// Poly1305 and ChaCha20-Poly1305 (RFC 8439, 2.5 to 2.8) of many runs at once. A lane
// encrypts a block of 64 bytes and adds its four blocks of 16 to a hash of its own: hash
// r^(4 L) + x0 r^3 + x1 r^2 + x2 r + x3, where L is the lanes of a group. So four
// products share one chain of carries.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chacha20.h"
#include "poly1305_field.h"

FN Poly poly_load(GLOBAL const u32 *from) {
  Poly a;
  UNROLL for (int i = 0; i < 5; ++i) a.w[i] = from[i];
  return a;
}

// r of a one-time key, which is the first block of a message's keystream.
FN Poly poly_clamp(const u32 *x) {
  Block r = {{x[0] & 0x0fffffffu, x[1] & 0x0ffffffcu, x[2] & 0x0ffffffcu, x[3] & 0x0ffffffcu}};
  Poly limbs = poly_of_block(r);
  limbs.w[4] &= 0xffffffu;
  return limbs;
}

// One-time keys, a lane each.
KERNEL(poly1305_keys, HASH_KEY_LANES)
(GLOBAL const OneTimeKey *wanted, u32 count, GLOBAL const u32 *keys, GLOBAL u32 *one_time_keys) {
  for (u32 n = group_id() * group_lanes() + lane_id(); n < count;
       n += group_count() * group_lanes()) {
    const u32 iv[4] = {0, wanted[n].nonce[0], wanted[n].nonce[1], wanted[n].nonce[2]};
    u32 x[16];
    chacha20_block(x, keys + (u64)wanted[n].key * BLOCK_KEY_WORDS, iv, 0);
    const Poly limbs = poly_clamp(x);
    GLOBAL u32 *to = one_time_keys + (u64)n * POLY1305_KEY_WORDS;
    UNROLL for (int i = 0; i < 5; ++i) to[i] = limbs.w[i];
    UNROLL for (int i = 0; i < 4; ++i) to[8 + i] = x[4 + i];
  }
}

// Local memory of a run: four multipliers of 12 words, at 48 the hash of the run's end,
// and from 64 on the hash of every lane.
#define POLY1305_FACTOR(n) (words + 12 * (n))
#define POLY1305_END (words + 48)
#define POLY1305_HASH(lane) (words + 64 + 8 * (lane))

FN void poly_put_factor(SHARED u32 *to, Poly a) {
  const PolyFactor f = poly_factor(a);
  UNROLL for (int i = 0; i < 5; ++i) to[i] = f.w[i];
  UNROLL for (int i = 0; i < 4; ++i) to[5 + i] = f.w5[i];
}

FN PolyFactor poly_get_factor(SHARED const u32 *from) {
  const Block a = load_local_block(from), b = load_local_block(from + 4);
  PolyFactor f = {{a.w[0], a.w[1], a.w[2], a.w[3], b.w[0]}, {b.w[1], b.w[2], b.w[3], from[8]}};
  return f;
}

// hash r^(4 L) and the next four blocks.
FN Poly poly_absorb(Poly hash, const Block *data, SHARED const u32 *words) {
  u64 sums[5];
  const Poly end = poly_of_block(data[3]);
  UNROLL for (int i = 0; i < 5; ++i) sums[i] = end.w[i];
  poly_multiply_add(sums, hash, poly_get_factor(POLY1305_FACTOR(0)));
  UNROLL for (u32 i = 0; i < 3; ++i) {
    poly_multiply_add(sums, poly_of_block(data[i]), poly_get_factor(POLY1305_FACTOR(1 + i)));
  }
  return poly_carry(sums);
}

// Encrypts (opens 0) or decrypts runs of data, and hashes them. `at` counts from the
// start of the run's piece, in whole blocks of 64 bytes. The hashes are as those of
// ghash_runs, in limbs. Runs of additional data are only hashed. A group takes a run.
// Those that have matrices are left to chacha20_poly1305_matrix_runs.
KERNEL(chacha20_poly1305_runs, HASH_RUN_LANES)
(GLOBAL const HashRun *runs, GLOBAL const CipherPiece *pieces, GLOBAL const u32 *keys,
 GLOBAL const u32 *one_time_keys, u32 opens, GLOBAL const u8 *in_base, GLOBAL u8 *out_base,
 GLOBAL const u8 *aad, GLOBAL u32 *hashes SHARED_PARAMETER) {
  SHARED_WORDS(words);
  const u32 lanes = group_lanes();
  const u32 n = group_id();
  GLOBAL const HashRun *run = runs + n;
  const u32 has_data = run->source == HASH_SOURCE_DATA;
  GLOBAL const CipherPiece *piece = pieces + (has_data ? run->piece : 0);
  GLOBAL const u8 *in = has_data ? in_base + piece->in + run->at : aad + run->at;
  GLOBAL u8 *out = has_data ? out_base + piece->out + run->at : out_base;
  const u32 aligned = has_data ? block_aligned(in, out) : ((u64)in & 15) == 0;
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
  for (; number < whole; number += lanes) {
    const u64 at = CHACHA20_BLOCK_BYTES * number;
    Block data[4];
    chacha20_load(data, in + at, CHACHA20_BLOCK_BYTES, aligned);
    if (has_data) {
      u32 x[16];
      chacha20_block(x, key, iv, first + number);
      if (opens) hash = poly_absorb(hash, data, words);
      chacha20_xor(data, x);
      chacha20_store(out + at, data, CHACHA20_BLOCK_BYTES, aligned);
    }
    if (!has_data || !opens) hash = poly_absorb(hash, data, words);
  }
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
    chacha20_load(data, in + at, rest, aligned);
    if (has_data) {
      Block plain[4];
      u32 x[16];
      UNROLL for (u32 i = 0; i < 4; ++i) plain[i] = data[i];
      chacha20_block(x, key, iv, first + number);
      chacha20_xor(plain, x);
      chacha20_store(out + at, plain, rest, aligned);
      // Only the bytes that were written are hashed. If they are the ciphertext, they are
      // read back.
      if (!opens) chacha20_load(data, out + at, rest, aligned);
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

// Multiplies every hash by its power, a lane a run.
KERNEL(poly1305_weigh, HASH_RUN_LANES)
(GLOBAL const HashRun *runs, u32 count, GLOBAL const u32 *one_time_keys, GLOBAL u32 *hashes) {
  for (u32 n = group_id() * group_lanes() + lane_id(); n < count;
       n += group_count() * group_lanes()) {
    const Poly r = poly_load(one_time_keys + (u64)runs[n].key * POLY1305_KEY_WORDS);
    GLOBAL u32 *hash = hashes + (u64)n * HASH_WORDS;
    const Poly weighed = poly_multiply(poly_load(hash), poly_power(r, runs[n].exponent));
    UNROLL for (int i = 0; i < 5; ++i) hash[i] = weighed.w[i];
  }
}

// Adds up every piece's hashes, a group a piece, with the s of its message.
KERNEL(poly1305_sums, HASH_SUM_LANES)
(GLOBAL const HashSum *pieces, GLOBAL const u32 *one_time_keys, GLOBAL const u32 *hashes,
 GLOBAL u32 *results SHARED_PARAMETER) {
  SHARED_WORDS(words);
  const u32 lanes = group_lanes();
  const u32 p = group_id();
  GLOBAL const HashSum *piece = pieces + p;
  GLOBAL const u32 *key = one_time_keys + (u64)piece->key * POLY1305_KEY_WORDS;
  u64 sums[5] = {0, 0, 0, 0, 0};
  for (u32 n = lane_id(); n < piece->run_count; n += lanes) {
    UNROLL for (int i = 0; i < 5; ++i) sums[i] +=
        hashes[(u64)(piece->first_run + n) * HASH_WORDS + i];
  }
  const Poly part = poly_carry(sums);
  UNROLL for (int i = 0; i < 5; ++i) words[8 * lane_id() + i] = part.w[i];
  group_barrier();
  if (lane_id() == 0) {
    UNROLL for (int i = 0; i < 5; ++i) sums[i] = 0;
    for (u32 n = 0; n < lanes; ++n) {
      UNROLL for (int i = 0; i < 5; ++i) sums[i] += words[8 * n + i];
    }
    if (piece->closes) {
      Block lengths = {
          {piece->lengths[0], piece->lengths[1], piece->lengths[2], piece->lengths[3]}};
      const Poly last = poly_multiply(poly_of_block(lengths), poly_load(key));
      UNROLL for (int i = 0; i < 5; ++i) sums[i] += last.w[i];
    }
    const Poly sum = poly_carry(sums);
    GLOBAL u32 *to = results + (u64)p * POLY1305_SUM_WORDS;
    UNROLL for (int i = 0; i < 5; ++i) to[i] = sum.w[i];
    UNROLL for (int i = 0; i < 4; ++i) to[8 + i] = key[8 + i];
  }
}

#undef POLY1305_FACTOR
#undef POLY1305_HASH
#undef POLY1305_END
