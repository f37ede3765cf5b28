// Which lengths of keys one launch of RSA takes together.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "job/rsa_job.h"

namespace lanecrypt::runtime {

// A number that operations have in common which one launch can take together;
// 0 where no device takes the key.
using RsaKind = uint32_t;
// It is the size of a BatchKind, whose operation is an lc_rsa_operation.
RsaKind rsa_kind(const RsaKey &key, lc_rsa_operation operation);
// The same of a private key of two equal primes of which only the length is known.
RsaKind rsa_kind(uint32_t modulus_bits);

// Lengths of keys that share a launch: up to `prime_bits` of each prime and
// twice that of the modulus.
struct RsaClass {
  uint32_t prime_bits;
  uint32_t fp64_limbs, u32_limbs;  // of a prime
};

// The class of a kind, which is its number from 1 on.
const RsaClass &rsa_class(RsaKind kind);

uint32_t longest_prime_bits(const RsaKey &key);

}  // namespace lanecrypt::runtime
