// Constants and structures that the host and the kernels share for the search for primes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rsa_layout.h"

// Small primes that a thread of prime_sieve divides by at a time.
#define PRIME_SIEVE_BLOCK 8

// `PrimeSieveShape` describes a launch of prime_sieve. The launch has a table of powers: for each
// block of small primes and each word of a candidate, 2^(32 word) modulo each prime of the block.
// The sums of words times powers fit into 64 bits even for a number of 2^14 bits.
typedef struct PrimeSieveShape {
  u32 count;         // candidates
  u32 stride_bytes;  // of one candidate, a multiple of 4; big-endian, right-aligned
  u32 blocks;        // of small primes
  u32 unused;
} PrimeSieveShape;

// `SmallPrime` is a small prime. `of_exponent` is 1 if it divides e. A candidate that is 1 modulo
// such a prime is rejected, because e would have no inverse.
typedef struct SmallPrime {
  u32 prime;
  u32 of_exponent;
} SmallPrime;

// The number of lowest bits of a candidate that prime_test processes one at a time.
#define PRIME_LOW_BITS 16

// Rows of the table of prime_test: the powers of a window, and the candidate. Each row has
// THREAD_LIMBS limbs for each thread of a thread block.
#define PRIME_ROWS (RSA_WINDOW_ENTRIES + 1)

typedef struct PrimeTestShape {
  u32 count;         // trials; a trial is a candidate and a base
  u32 subgroup;      // threads of one trial, a power of two
  u32 bits;          // of each candidate; all have the same length
  u32 stride_bytes;  // of one candidate, as in PrimeSieveShape
} PrimeTestShape;
