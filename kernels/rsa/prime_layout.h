// What host and kernels share of the search for primes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rsa_layout.h"

// How many small primes a thread of prime_sieve does side by side.
#define PRIME_SIEVE_BLOCK 8

// A table of powers for the sieve. It has, for each block of small primes and each word
// of a candidate, 2^(32 word) mod each prime of the block. Even for a number of 2^14
// bits, the sums of words times powers fit into 64 bits.
typedef struct PrimeSieveShape {
  u32 count;         // candidates
  u32 stride_bytes;  // of one, a multiple of 4; big-endian, right-aligned
  u32 blocks;        // of small primes
  u32 unused;
} PrimeSieveShape;

// A small prime. `of_exponent` is 1 if it divides e. A candidate that is 1 modulo such a
// prime will not do: e would have no inverse.
typedef struct SmallPrime {
  u32 prime;
  u32 of_exponent;
} SmallPrime;

// How many of the lowest bits of a candidate prime_test takes one at a time.
#define PRIME_LOW_BITS 16

// Rows of the table of prime_test: a window's powers, and the candidate. Each has
// THREAD_LIMBS limbs for each thread of a thread block.
#define PRIME_ROWS (RSA_WINDOW_ENTRIES + 1)

typedef struct PrimeTestShape {
  u32 count;         // trials: a candidate and a base
  u32 subgroup;      // threads of one trial, a power of two
  u32 bits;          // of each candidate: none has more or fewer
  u32 stride_bytes;  // as above
} PrimeTestShape;
