// ML-DSA on the CPU. It takes over when a device cannot do its work, and a device's answers are
// checked against it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "job/ml_dsa_job.h"

namespace lanecrypt::cpu {

// Makes a key of its parts: computes what is left out, and checks that all belong together
// (LC_ERROR_ARGUMENT).
Result<std::shared_ptr<MlDsaKey>> make_ml_dsa_key(const MlDsaParts &parts);

// mu: 64 bytes; random: 32. The key is a private one. Any thread.
Status ml_dsa_sign(const MlDsaKey &key, std::span<const uint8_t> mu,
                   std::span<const uint8_t> random, std::span<uint8_t> signature);
// 1 if the signature, of the right length, is right, else 0. Any thread.
Result<uint8_t> ml_dsa_verify(const MlDsaKey &key, std::span<const uint8_t> mu,
                              std::span<const uint8_t> signature);

}  // namespace lanecrypt::cpu
