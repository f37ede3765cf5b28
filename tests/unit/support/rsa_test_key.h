// RSA keys made from given primes, and modular exponentiation by OpenSSL's BIGNUM.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "lanecrypt/lanecrypt.h"
#include "long_numbers.h"

namespace lanecrypt::test {

inline lc_number number_of(const Bytes &bytes) { return {bytes.data(), bytes.size()}; }

// A private key that is computed from its two primes.
struct TestKey {
  Bytes n, e, p, q, dp, dq, qinv;
  Bn modulus = bn(), exponent = bn(), secret = bn(), first = bn(), second = bn();

  TestKey(const BIGNUM *p_number, const BIGNUM *q_number, const BIGNUM *e_number);

  // Generates random primes p such that e has an inverse modulo p-1.
  static TestKey random(int bits, BN_ULONG public_exponent = 65537);

  lc_rsa_parts parts() const;
  // Returns in^by mod n.
  Bytes power(const Bytes &in, const BIGNUM *by) const;
};

// Returns a key of that length, which is generated only once per process because primes take time.
const TestKey &key_of_bits(int bits);

// Returns the kEdges numbers 0, 1, n-1, p, q and n-p, followed by `random_count` random ones.
constexpr size_t kEdges = 6;
std::vector<Bytes> extreme_inputs(const TestKey &key, size_t random_count);

}  // namespace lanecrypt::test
