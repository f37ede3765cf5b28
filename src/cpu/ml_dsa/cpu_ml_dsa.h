// ML-DSA (FIPS 204) on the CPU. It is the fallback if a device cannot do its work, and the
// reference against which a device's results are checked.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "job/ml_dsa_job.h"

namespace lanecrypt::cpu {

// Makes a key of its parts: computes missing parts, and checks that all belong together
// (LC_ERROR_ARGUMENT).
Result<std::shared_ptr<MlDsaKey>> make_ml_dsa_key(const MlDsaParts &parts);

// Signs `mu`, 64 bytes, with the 32 bytes `random` and a private key. Thread-safe.
Status ml_dsa_sign(const MlDsaKey &key, std::span<const uint8_t> mu,
                   std::span<const uint8_t> random, std::span<uint8_t> signature);
// Verifies a signature of the right length. Returns 1 if it is valid, otherwise 0. Thread-safe.
Result<uint8_t> ml_dsa_verify(const MlDsaKey &key, std::span<const uint8_t> mu,
                              std::span<const uint8_t> signature);

}  // namespace lanecrypt::cpu
