// Which key lengths one RSA launch can take together.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "job/rsa_job.h"

namespace lanecrypt::runtime {

// `RsaKind` is equal for operations that one launch can take together, and 0 if no device takes the
// key.
using RsaKind = uint32_t;
// The kind of an operation with `key`. It is the `size` of a BatchKind whose operation is an
// lc_rsa_operation.
RsaKind rsa_kind(const RsaKey &key, lc_rsa_operation operation);
// The kind of a private key with two primes of equal length, of which only the length is known.
RsaKind rsa_kind(uint32_t modulus_bits);

// `RsaClass` is a class of keys that share a launch: primes of at most `prime_bits` bits, and a
// modulus of at most twice that.
struct RsaClass {
  uint32_t prime_bits;
  uint32_t fp64_limbs, u32_limbs;  // of a prime
};

// Returns the class of `kind`, which is the class's number, counted from 1.
const RsaClass &rsa_class(RsaKind kind);

uint32_t longest_prime_bits(const RsaKey &key);

}  // namespace lanecrypt::runtime
