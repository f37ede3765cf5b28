// What a device must answer before it is trusted with ML-DSA.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::verify {

// Of the key whose seed is the bytes 0 to 31: the SHA-256 of its public and private key in a
// row, and that of its deterministic signature of kMlDsaMessage, pure and without a context. In
// hex.
struct MlDsaKnownAnswer {
  lc_ml_dsa_set set;
  std::string_view key_sha256, signature_sha256;

  std::string subject() const { return "key or signature of ML-DSA-" + std::to_string(int(set)); }
};

inline constexpr std::string_view kMlDsaMessage = "Lanecrypt signs this.";

std::span<const MlDsaKnownAnswer> ml_dsa_known_answers();

}  // namespace lanecrypt::verify
