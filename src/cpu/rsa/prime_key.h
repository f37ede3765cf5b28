// An RSA key made of two primes, and the checks on it, by OpenSSL's numbers on the CPU.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cpu/rsa/prime_candidates.h"
#include "job/rsa_job.h"

namespace lanecrypt::cpu {

// One round of the test of Miller and Rabin (FIPS 186-5, B.3.1) of an odd candidate, with
// a base below it. With a base of 0, 1 or candidate - 1 nothing passes.
Result<bool> passes_round(std::span<const uint8_t> candidate, std::span<const uint8_t> base);

// What became of two primes.
struct MadeKey {
  enum class Verdict {
    kGood,
    kUnsuitable,  // primes, but together, or with e, not as FIPS 186-5 wants them
    kNotPrime     // one of them failed here: whoever found it was wrong
  };
  Verdict verdict = Verdict::kUnsuitable;
  // For kNotPrime: which of the two. Both, where the key shows only that one of them is
  // no prime.
  bool first_is_wrong = false, second_is_wrong = false;
  std::shared_ptr<RsaKey> key;  // kGood
};

// Makes a key of p and q, which have equal stride.
// Each must pass one more round of Miller and Rabin here, with a base from `random`. The
// key (p > q, d modulo the least common multiple of p-1 and q-1) is made and its numbers
// are compared with each other (prepare()). A random number must come back from the
// private operation and the public one. So OpenSSL's own arithmetic tests both primes a
// second time, and a device that errs gives no bad key. Any thread.
Result<MadeKey> make_rsa_key(const RandomBytes &random, uint32_t modulus_bits,
                             std::span<const uint8_t> exponent, std::span<const uint8_t> p,
                             std::span<const uint8_t> q);

}  // namespace lanecrypt::cpu
