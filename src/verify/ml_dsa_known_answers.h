// What a device must answer before it is trusted with ML-DSA (FIPS 204).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::verify {

// Known answers, in hex, for the key whose seed is the bytes 0 to 31: the SHA-256 of its public key
// followed by its private key, and the SHA-256 of its deterministic pure signature of kMlDsaMessage
// with an empty context.
struct MlDsaKnownAnswer {
  lc_ml_dsa_set set;
  std::string_view key_sha256, signature_sha256;

  std::string subject() const { return "key or signature of ML-DSA-" + std::to_string(int(set)); }
};

inline constexpr std::string_view kMlDsaMessage = "Lanecrypt signs this.";

std::span<const MlDsaKnownAnswer> ml_dsa_known_answers();

}  // namespace lanecrypt::verify
