// RSA on the CPU, by OpenSSL's default provider. It takes over when a device cannot do
// its work, and a device's answers are checked against it. Also the numbers of a key that
// a device needs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/rsa_job.h"

namespace lanecrypt::cpu {

// Checks that the parts of a key belong together (LC_ERROR_ARGUMENT), and has OpenSSL
// make its own form of the key, in key.on_cpu.
Status prepare(RsaKey &key);

// in^e or in^d mod n (RFC 8017, sections 5.1 and 5.2), key.modulus_bytes each;
// `out` may be `in`. OpenSSL blinds private operations. It checks the result of p and q, and takes
// in^d if that is wrong, which is wrong too if p or q is not prime. Any thread.
Status run_rsa(const RsaKey &key, lc_rsa_operation operation, const uint8_t *in, uint8_t *out);

// Whether made^e mod n is `in`, key.modulus_bytes each. `made` must be less than n. Any thread.
Result<bool> computes_back(const RsaKey &key, const uint8_t *made, const uint8_t *in);

// Whether p and q pass `rounds` rounds each of the test of Miller and Rabin, with bases from the
// private random generator. A number that is not prime passes a round with a chance of 1/4 at most.
// Any thread.
Result<bool> has_primes(const RsaKey &key, unsigned rounds);

// Whether p and q pass so many rounds that a key made to pass does so with a chance of 1 in 2^32 at
// most: a wrong result with them is not the key's fault. The rounds are done once per key that
// passes, and take as long as 16 private operations.
Result<bool> has_proven_primes(const RsaKey &key);

// The error of a key whose p or q is not prime.
Status key_at_fault();

}  // namespace lanecrypt::cpu
