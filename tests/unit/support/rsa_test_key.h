// Keys of RSA made of given primes, with what OpenSSL's long numbers make of a
// message by them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "lanecrypt/lanecrypt.h"
#include "long_numbers.h"

namespace lanecrypt::test {

inline lc_number number_of(const Bytes &bytes) { return {bytes.data(), bytes.size()}; }

// A key of its own numbers, made from two primes.
struct TestKey {
  Bytes n, e, p, q, dp, dq, qinv;
  Bn modulus = bn(), exponent = bn(), secret = bn(), first = bn(), second = bn();

  TestKey(const BIGNUM *p_number, const BIGNUM *q_number, const BIGNUM *e_number);

  // Of primes p for which e has an inverse modulo p-1.
  static TestKey random(int bits, BN_ULONG public_exponent = 65537);

  lc_rsa_parts parts() const;
  // in^by mod n.
  Bytes power(const Bytes &in, const BIGNUM *by) const;
};

// Made once: primes take their time.
const TestKey &key_of_bits(int bits);

// 0, 1, n-1, p, q, n-p: kEdges of them; and random numbers.
constexpr size_t kEdges = 6;
std::vector<Bytes> extreme_inputs(const TestKey &key, size_t random_count);

}  // namespace lanecrypt::test
