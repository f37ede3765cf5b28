// Candidates for the primes of RSA (FIPS 186-5, A.1.3) and bases for their
// tests, drawn at random; and trial division by small primes.
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

// Bytes between numbers of so many bits that lie side by side: a multiple of 8.
constexpr uint32_t prime_stride_bytes(uint32_t bits) { return (bits + 63) / 64 * 8; }

// What candidates of one length are divided by; see kernels/rsa/prime_layout.h.
struct SieveTable {
  uint32_t stride_bytes = 0;
  uint32_t blocks = 0;
  std::vector<SmallPrime> primes;
  std::vector<uint32_t> powers;
  // The part of random odd numbers that no small prime divides.
  double survivors = 1;
};

// `exponent` is e; the table has its small prime factors too.
SieveTable make_sieve_table(uint32_t stride_bytes, std::span<const uint8_t> exponent);
// Decides as the kernel prime_sieve does.
bool survives(const SieveTable &table, const uint8_t *candidate);

// Odd numbers of `bits` bits, at least sqrt(2) 2^(bits-1), all equally likely. bits is at
// least 128.
Status draw_candidates(const RandomBytes &random, uint32_t bits, std::span<uint8_t> to);

// For each number in `trials`, a base for that candidate (FIPS 186-5, B.3.1, step 4.2): a number
// above 1 and below candidate - 1, all equally likely. LC_ERROR_INTERNAL if `random` gives none.
Status draw_bases(const RandomBytes &random, uint32_t bits, std::span<const uint8_t> candidates,
                  std::span<const uint32_t> trials, std::span<uint8_t> to);

// Rounds of the test of Miller and Rabin for each prime of a modulus of `modulus_bits`,
// by FIPS 186-5, table B.1. For lengths below the table's, more than FIPS 186-4, table
// C.2 asks for primes of 512 bits.
constexpr uint32_t miller_rabin_rounds(uint32_t modulus_bits) {
  return modulus_bits >= 3072 ? 4 : modulus_bits >= 2048 ? 5 : 8;
}

}  // namespace lanecrypt::cpu
