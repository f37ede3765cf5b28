// Random candidates for the primes of RSA (FIPS 186-5, Appendix A.1.3), random bases for their
// tests, and trial division by small primes.
//
// Numbers are big-endian, right-aligned in `stride_bytes` bytes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "job/status.h"
#include "kernels/rsa/prime_layout.h"

namespace lanecrypt::cpu {

// Fills memory with bytes of a private random generator.
using RandomBytes = std::function<Status(void *to, size_t bytes)>;

// Returns the bytes from one number of `bits` bits to the next in an array: a multiple of 8.
constexpr uint32_t prime_stride_bytes(uint32_t bits) { return (bits + 63) / 64 * 8; }

// `SieveTable` is what candidates of one length are divided by; see kernels/rsa/prime_layout.h.
struct SieveTable {
  uint32_t stride_bytes = 0;
  uint32_t blocks = 0;
  std::vector<SmallPrime> primes;
  std::vector<uint32_t> powers;
  // The fraction of random odd numbers that no small prime divides.
  double survivors = 1;
};

// Makes a table. `exponent` is e; the table includes its small prime factors.
SieveTable make_sieve_table(uint32_t stride_bytes, std::span<const uint8_t> exponent);
// Returns the same result as the kernel prime_sieve.
bool survives(const SieveTable &table, const uint8_t *candidate);

// Draws odd numbers of `bits` bits, uniformly distributed and at least sqrt(2) 2^(bits-1) (FIPS
// 186-5, Appendix A.1.3, step 4). `bits` is at least 128.
Status draw_candidates(const RandomBytes &random, uint32_t bits, std::span<uint8_t> to);

// Draws a base for the candidate of each index in `trials` (FIPS 186-5, Appendix B.3.1, step 4.2):
// a number above 1 and below candidate - 1, uniformly distributed. Returns LC_ERROR_INTERNAL if
// `random` yields none.
Status draw_bases(const RandomBytes &random, uint32_t bits, std::span<const uint8_t> candidates,
                  std::span<const uint32_t> trials, std::span<uint8_t> to);

// Returns the rounds of the Miller-Rabin test for each prime of a modulus of `modulus_bits`, by
// FIPS 186-5, Table B.1. For lengths below the table's, it is more than FIPS 186-4, Table C.2
// requires for primes of 512 bits.
constexpr uint32_t miller_rabin_rounds(uint32_t modulus_bits) {
  return modulus_bits >= 3072 ? 4 : modulus_bits >= 2048 ? 5 : 8;
}

}  // namespace lanecrypt::cpu
