// RSA on the CPU, by OpenSSL's default provider. It is the fallback if a device cannot do its work,
// and the reference against which a device's results are checked. Also computes the numbers of a
// key that a device needs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/rsa_job.h"

namespace lanecrypt::cpu {

// Checks that the parts of a key belong together (LC_ERROR_ARGUMENT), and makes OpenSSL's form of
// the key in key.on_cpu.
Status prepare(RsaKey &key);

// Computes in^e or in^d mod n (RFC 8017, sections 5.1 and 5.2), key.modulus_bytes each; `out` may
// equal `in`. OpenSSL blinds private operations. It checks the result of p and q and, if that is
// wrong, returns in^d, which is wrong too if p or q is not prime. Thread-safe.
Status run_rsa(const RsaKey &key, lc_rsa_operation operation, const uint8_t *in, uint8_t *out);

// Returns whether made^e mod n equals `in`, key.modulus_bytes each. `made` must be less than n.
// Thread-safe.
Result<bool> computes_back(const RsaKey &key, const uint8_t *made, const uint8_t *in);

// Returns whether p and q pass `rounds` rounds each of the Miller-Rabin test, with bases from the
// private random generator. A composite number passes a round with a probability of at most 1/4.
// Thread-safe.
Result<bool> has_primes(const RsaKey &key, unsigned rounds);

// Returns whether p and q pass so many rounds that a key made to pass does so with a probability of
// at most 2^-32: a wrong result with such primes is not the key's fault. The rounds are done once
// for each key that passes, and take as long as 16 private operations.
Result<bool> has_proven_primes(const RsaKey &key);

// Returns the error of a key whose p or q is not prime.
Status key_at_fault();

}  // namespace lanecrypt::cpu
