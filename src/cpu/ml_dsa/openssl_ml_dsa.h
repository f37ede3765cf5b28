// ML-DSA by OpenSSL's default provider, from 3.5 on. On one core it is several times as fast as the
// kernels' code. It is also independent of the code whose results it checks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "job/ml_dsa_job.h"

namespace lanecrypt::cpu {

// Returns OpenSSL's form of a key, or nullptr if libcrypto has no ML-DSA or does not accept the
// key.
std::shared_ptr<const OpensslMlDsaKey> openssl_ml_dsa_key(const MlDsaKey &key);

// As ml_dsa_sign() and ml_dsa_verify(). Thread-safe.
Status openssl_ml_dsa_sign(const OpensslMlDsaKey &key, std::span<const uint8_t> mu,
                           std::span<const uint8_t> random, std::span<uint8_t> signature);
Result<uint8_t> openssl_ml_dsa_verify(const OpensslMlDsaKey &key, std::span<const uint8_t> mu,
                                      std::span<const uint8_t> signature);

}  // namespace lanecrypt::cpu
