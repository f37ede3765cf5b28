// RSA keys made of given primes, and what OpenSSL's long numbers make of a message with
// them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "lanecrypt/lanecrypt.h"
#include "long_numbers.h"

namespace lanecrypt::test {

inline lc_number number_of(const Bytes &bytes) { return {bytes.data(), bytes.size()}; }

// A key made from two primes, with its own numbers.
struct TestKey {
  Bytes n, e, p, q, dp, dq, qinv;
  Bn modulus = bn(), exponent = bn(), secret = bn(), first = bn(), second = bn();

  TestKey(const BIGNUM *p_number, const BIGNUM *q_number, const BIGNUM *e_number);

  // Its primes p are such that e has an inverse modulo p-1.
  static TestKey random(int bits, BN_ULONG public_exponent = 65537);

  lc_rsa_parts parts() const;
  // in^by mod n.
  Bytes power(const Bytes &in, const BIGNUM *by) const;
};

// Made once, since primes take time.
const TestKey &key_of_bits(int bits);

// The kEdges numbers 0, 1, n-1, p, q and n-p, and then random ones.
constexpr size_t kEdges = 6;
std::vector<Bytes> extreme_inputs(const TestKey &key, size_t random_count);

}  // namespace lanecrypt::test
