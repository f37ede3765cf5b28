// Makes an RSA key of two primes and checks it, with OpenSSL's big numbers on the CPU.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cpu/rsa/prime_candidates.h"
#include "job/rsa_job.h"

namespace lanecrypt::cpu {

// Runs one round of the Miller-Rabin test (FIPS 186-5, Appendix B.3.1) on an odd candidate, with a
// base below it. With a base of 0, 1 or candidate - 1 nothing passes.
Result<bool> passes_round(std::span<const uint8_t> candidate, std::span<const uint8_t> base);

// `MadeKey` is the result for two primes.
struct MadeKey {
  enum class Verdict {
    kGood,
    kUnsuitable,  // primes that together, or with e, do not meet FIPS 186-5
    kNotPrime     // one of them failed here: the worker that found it is faulty
  };
  Verdict verdict = Verdict::kUnsuitable;
  // For kNotPrime: which of the two. Both, if the key only shows that one of them is not prime.
  bool first_is_wrong = false, second_is_wrong = false;
  std::shared_ptr<RsaKey> key;  // kGood
};

// Makes a key of `p` and `q`, which have the same stride (FIPS 186-5, Appendix A.1.3).
//
// Each prime must pass one more round of the Miller-Rabin test here, with a base from `random`. The
// key (p > q, d modulo the least common multiple of p-1 and q-1) is computed, and the relations of
// its numbers are checked (prepare()). A random number must survive the private operation followed
// by the public one. So OpenSSL's own arithmetic tests both primes a second time, and a faulty
// device cannot cause a bad key. Thread-safe.
Result<MadeKey> make_rsa_key(const RandomBytes &random, uint32_t modulus_bits,
                             std::span<const uint8_t> exponent, std::span<const uint8_t> p,
                             std::span<const uint8_t> q);

}  // namespace lanecrypt::cpu
