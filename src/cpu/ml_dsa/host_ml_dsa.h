// ML-DSA (FIPS 204) on one core, by the code of the kernels, run as a thread block of one thread.
// It does not depend on the libcrypto of the process.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "job/ml_dsa_sizes.h"
#include "job/status.h"

namespace lanecrypt::cpu {

using Bytes = std::span<const uint8_t>;

// Each function allocates memory that it wipes, and returns LC_ERROR_MEMORY without it.
// Thread-safe.

// Writes the public key and then the private key of a seed to `whole` (FIPS 204, Algorithm 6,
// ML-DSA.KeyGen_internal).
Status host_ml_dsa_key(const MlDsaSizes &sizes, Bytes seed, std::span<uint8_t> whole);
// Computes the public key of the private key in `whole`, and writes it in front of the private key.
// Returns LC_ERROR_ARGUMENT if t0 or tr is not what follows from the rest, or if a coefficient is
// out of range.
Status host_ml_dsa_public(const MlDsaSizes &sizes, std::span<uint8_t> whole);
// Signs `mu` (FIPS 204, Algorithm 7, ML-DSA.Sign_internal, after the computation of mu). `whole` is
// the public key and the private key.
Status host_ml_dsa_sign(const MlDsaSizes &sizes, Bytes whole, Bytes mu, Bytes random,
                        std::span<uint8_t> signature);
// Verifies a signature of `mu` (FIPS 204, Algorithm 8, ML-DSA.Verify_internal, after the
// computation of mu). Returns 1 if it is valid, otherwise 0.
Result<uint8_t> host_ml_dsa_verify(const MlDsaSizes &sizes, Bytes public_key, Bytes mu,
                                   Bytes signature);

// Computes tr, the hash of a public key.
void ml_dsa_tr(Bytes public_key, std::span<uint8_t> tr);
// Computes mu of a message, as lc_ml_dsa_message describes it (FIPS 204, Algorithm 2, ML-DSA.Sign,
// for M', and Algorithm 7, ML-DSA.Sign_internal). For LC_MESSAGE_MU, mu is copied.
void ml_dsa_mu(lc_message_encoding encoding, Bytes tr, Bytes context, Bytes message,
               std::span<uint8_t> mu);

}  // namespace lanecrypt::cpu
