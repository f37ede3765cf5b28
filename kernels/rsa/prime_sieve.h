// Trial division of candidates for primes, one candidate for each thread.
//
// The time of a thread depends on its candidate only if a small prime divides the candidate. Such a
// candidate is discarded, so its time reveals nothing of use. A candidate that survives takes all
// steps.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prime_layout.h"

// `prime_sieve` sets survives[n] to 1 if no small prime divides candidate n and the candidate is
// not 1 modulo a small prime that divides e, and otherwise to 0.
KERNEL(prime_sieve, RSA_THREAD_BLOCK)
(GLOBAL const PrimeSieveShape *shape, GLOBAL const SmallPrime *primes, GLOBAL const u32 *powers,
 GLOBAL const u8 *candidates, GLOBAL u32 *survives) {
  const u32 words = shape->stride_bytes / 4, step = thread_block_count() * thread_block_size();
  for (u32 n = thread_block_id() * thread_block_size() + thread_id(); n < shape->count; n += step) {
    GLOBAL const u32 *candidate = (GLOBAL const u32 *)(candidates + (u64)n * shape->stride_bytes);
    u32 lives = 1;
    for (u32 block = 0; block < shape->blocks && lives; ++block) {
      GLOBAL const u32 *row = powers + (u64)block * words * PRIME_SIEVE_BLOCK;
      u64 sum[PRIME_SIEVE_BLOCK];
      UNROLL for (u32 k = 0; k < PRIME_SIEVE_BLOCK; ++k) sum[k] = 0;
      for (u32 w = 0; w < words; ++w) {
        const u64 word = SWAP_BYTES(candidate[words - 1 - w]);
        UNROLL for (u32 k = 0; k < PRIME_SIEVE_BLOCK; ++k) sum[k] +=
            word * row[w * PRIME_SIEVE_BLOCK + k];
      }
      UNROLL for (u32 k = 0; k < PRIME_SIEVE_BLOCK; ++k) {
        const SmallPrime small = primes[block * PRIME_SIEVE_BLOCK + k];
        const u32 rest = (u32)(sum[k] % small.prime);
        lives &= (rest != 0 ? 1u : 0u) & (rest != 1 || small.of_exponent == 0 ? 1u : 0u);
      }
    }
    survives[n] = lives;
  }
}
