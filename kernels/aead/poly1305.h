// Poly1305 and ChaCha20-Poly1305 (RFC 8439, 2.5 to 2.8) of many runs at once. A thread encrypts a
// block of 64 bytes and adds its four blocks of 16 to a hash of its own: hash r^(4 L) + x0 r^3 + x1
// r^2 + x2 r + x3, where L is the number of threads of a thread block. So four products share one
// chain of carries.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chacha20_alone.h"
#include "chacha20_unaligned.h"
#include "poly1305_field.h"

FN Poly poly_load(GLOBAL const u32 *from) {
  Poly a;
  UNROLL for (int i = 0; i < 5; ++i) a.w[i] = from[i];
  return a;
}

// Returns the clamped r (RFC 8439, 2.5) of a one-time key, which is the first block of a message's
// keystream.
FN Poly poly_clamp(const u32 *x) {
  Block r = {{x[0] & 0x0fffffffu, x[1] & 0x0ffffffcu, x[2] & 0x0ffffffcu, x[3] & 0x0ffffffcu}};
  Poly limbs = poly_of_block(r);
  limbs.w[4] &= 0xffffffu;
  return limbs;
}

// Computes one-time keys (RFC 8439, 2.6), one per thread.
KERNEL(poly1305_keys, HASH_KEY_THREADS)
(GLOBAL const OneTimeKey *wanted, u32 count, GLOBAL const u32 *keys, GLOBAL u32 *one_time_keys) {
  for (u32 n = thread_block_id() * thread_block_size() + thread_id(); n < count;
       n += thread_block_count() * thread_block_size()) {
    const u32 iv[4] = {0, wanted[n].nonce[0], wanted[n].nonce[1], wanted[n].nonce[2]};
    u32 x[16];
    chacha20_block(x, keys + (u64)wanted[n].key * BLOCK_KEY_WORDS, iv, 0);
    const Poly limbs = poly_clamp(x);
    GLOBAL u32 *to = one_time_keys + (u64)n * POLY1305_KEY_WORDS;
    UNROLL for (int i = 0; i < 5; ++i) to[i] = limbs.w[i];
    UNROLL for (int i = 0; i < 4; ++i) to[8 + i] = x[4 + i];
  }
}

// Shared memory of a run: four multipliers of 12 words, the hash of the run's end at word 48, and
// the hash of every thread from word 64 on.
#define POLY1305_FACTOR(n) (words + 12 * (n))
#define POLY1305_END (words + 48)
#define POLY1305_HASH(thread) (words + 64 + 8 * (thread))

FN void poly_put_factor(SHARED u32 *to, Poly a) {
  const PolyFactor f = poly_factor(a);
  UNROLL for (int i = 0; i < 5; ++i) to[i] = f.w[i];
  UNROLL for (int i = 0; i < 4; ++i) to[5 + i] = f.w5[i];
}

FN PolyFactor poly_get_factor(SHARED const u32 *from) {
  const Block a = load_shared_block(from), b = load_shared_block(from + 4);
  PolyFactor f = {{a.w[0], a.w[1], a.w[2], a.w[3], b.w[0]}, {b.w[1], b.w[2], b.w[3], from[8]}};
  return f;
}

// Returns hash r^(4 L) plus the next four blocks times their powers of r.
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

// In this variant a thread reads and writes its own bytes, byte by byte if they do not begin at a
// multiple of 16.
#define POLY1305_RUNS KERNEL(chacha20_poly1305_runs, HASH_RUN_THREADS)
#define POLY1305_EACH_BLOCK for (; number < whole; number += threads)
#define POLY1305_HAS_BLOCK 1
#define CHACHA20_BEGIN
#define CHACHA20_FETCH(data, from) chacha20_load(data, from, CHACHA20_BLOCK_BYTES, aligned)
#define CHACHA20_TAKE(data, from)
#define CHACHA20_PUT(to, data) chacha20_store(to, data, CHACHA20_BLOCK_BYTES, aligned)
#define CHACHA20_END(to)
#define CHACHA20_LOAD_REST(data, from, rest) chacha20_load(data, from, rest, aligned)
#define CHACHA20_STORE_REST(to, data, rest) chacha20_store(to, data, rest, aligned)
#include "poly1305_runs.inc"
#undef POLY1305_RUNS
#undef POLY1305_EACH_BLOCK
#undef POLY1305_HAS_BLOCK
#undef CHACHA20_BEGIN
#undef CHACHA20_FETCH
#undef CHACHA20_TAKE
#undef CHACHA20_PUT
#undef CHACHA20_END
#undef CHACHA20_LOAD_REST
#undef CHACHA20_STORE_REST

#ifdef HAS_WARP_SHUFFLE
// The variant for unaligned texts, for thread blocks of one warp. All its threads take part in each
// trip as long as one of them has a block. The register limit keeps as many thread blocks resident
// as for the aligned kernel.
#define POLY1305_RUNS KERNEL_OF(chacha20_poly1305_runs_unaligned, HASH_RUN_THREADS, 96)
#define POLY1305_EACH_BLOCK \
  for (u64 trip = 0; trip < whole; trip += threads, number += number < whole ? threads : 0)
#define POLY1305_HAS_BLOCK (number < whole)
#define POLY1305_LAST_THREAD (whole - trip < 32 ? (u32)(whole - trip) - 1 : 31)
#define POLY1305_SCRATCH POLY1305_HASH(0)
#define CHACHA20_BEGIN UnalignedStore before = unaligned_begin()
#define CHACHA20_FETCH(data, from) chacha20_fetch_unaligned(data, from, POLY1305_LAST_THREAD)
#define CHACHA20_TAKE(data, from) \
  chacha20_take_unaligned(data, from, POLY1305_LAST_THREAD, POLY1305_SCRATCH)
#define CHACHA20_PUT(to, data) \
  chacha20_store_unaligned(to, data, &before, POLY1305_LAST_THREAD, POLY1305_SCRATCH)
#define CHACHA20_END(to) unaligned_end(to, &before)
#define CHACHA20_LOAD_REST(data, from, rest) chacha20_load_alone(data, from, rest)
#define CHACHA20_STORE_REST(to, data, rest) chacha20_store_alone(to, data, rest)
#include "poly1305_runs.inc"
#undef POLY1305_RUNS
#undef POLY1305_EACH_BLOCK
#undef POLY1305_HAS_BLOCK
#undef POLY1305_LAST_THREAD
#undef POLY1305_SCRATCH
#undef CHACHA20_BEGIN
#undef CHACHA20_FETCH
#undef CHACHA20_TAKE
#undef CHACHA20_PUT
#undef CHACHA20_END
#undef CHACHA20_LOAD_REST
#undef CHACHA20_STORE_REST
#endif

// Multiplies each run's hash by its power of r, one run per thread.
KERNEL(poly1305_weigh, HASH_RUN_THREADS)
(GLOBAL const HashRun *runs, u32 count, GLOBAL const u32 *one_time_keys, GLOBAL u32 *hashes) {
  for (u32 n = thread_block_id() * thread_block_size() + thread_id(); n < count;
       n += thread_block_count() * thread_block_size()) {
    const Poly r = poly_load(one_time_keys + (u64)runs[n].key * POLY1305_KEY_WORDS);
    GLOBAL u32 *hash = hashes + (u64)n * HASH_WORDS;
    const Poly weighed = poly_multiply(poly_load(hash), poly_power(r, runs[n].exponent));
    UNROLL for (int i = 0; i < 5; ++i) hash[i] = weighed.w[i];
  }
}

// Adds up each piece's hashes, one thread block per piece, and appends the s of its message.
KERNEL(poly1305_sums, HASH_SUM_THREADS)
(GLOBAL const HashSum *pieces, GLOBAL const u32 *one_time_keys, GLOBAL const u32 *hashes,
 GLOBAL u32 *results SHARED_PARAMETER) {
  SHARED_WORDS(words);
  const u32 threads = thread_block_size();
  const u32 p = thread_block_id();
  GLOBAL const HashSum *piece = pieces + p;
  GLOBAL const u32 *key = one_time_keys + (u64)piece->key * POLY1305_KEY_WORDS;
  u64 sums[5] = {0, 0, 0, 0, 0};
  for (u32 n = thread_id(); n < piece->run_count; n += threads) {
    UNROLL for (int i = 0; i < 5; ++i) sums[i] +=
        hashes[(u64)(piece->first_run + n) * HASH_WORDS + i];
  }
  const Poly part = poly_carry(sums);
  UNROLL for (int i = 0; i < 5; ++i) words[8 * thread_id() + i] = part.w[i];
  thread_block_barrier();
  if (thread_id() == 0) {
    UNROLL for (int i = 0; i < 5; ++i) sums[i] = 0;
    for (u32 n = 0; n < threads; ++n) {
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
