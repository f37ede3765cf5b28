// ML-DSA on one core, by the code of the kernels: a group of one thread. It is there whatever
// libcrypto the process has.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "job/ml_dsa_sizes.h"
#include "job/status.h"

namespace lanecrypt::cpu {

using Bytes = std::span<const uint8_t>;

// Each needs some memory of its own, which is wiped: without it LC_ERROR_MEMORY. Any thread.

// The public key and the private key of a seed, in a row (FIPS 204, algorithm 6).
Status host_ml_dsa_key(const MlDsaSizes &sizes, Bytes seed, std::span<uint8_t> whole);
// The public key that belongs to a private one, in front of it in `whole`. LC_ERROR_ARGUMENT
// where t0 or tr differs from what follows from the rest, or a coefficient is out of range.
Status host_ml_dsa_public(const MlDsaSizes &sizes, std::span<uint8_t> whole);
// Algorithm 7, of mu. whole: the public and the private key.
Status host_ml_dsa_sign(const MlDsaSizes &sizes, Bytes whole, Bytes mu, Bytes random,
                        std::span<uint8_t> signature);
// Algorithm 8, of mu: 1 if the signature is right, else 0.
Result<uint8_t> host_ml_dsa_verify(const MlDsaSizes &sizes, Bytes public_key, Bytes mu,
                                   Bytes signature);

// tr, the hash of a public key.
void ml_dsa_tr(Bytes public_key, std::span<uint8_t> tr);
// mu of a message: as lc_ml_dsa_message has it, but that LC_MESSAGE_MU is copied.
void ml_dsa_mu(lc_message_encoding encoding, Bytes tr, Bytes context, Bytes message,
               std::span<uint8_t> mu);

}  // namespace lanecrypt::cpu
