// What a device must answer before it is trusted with SLH-DSA (FIPS 205).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lanecrypt::verify {

// Known answers, in hex, for the key whose seeds SK.seed, SK.prf and PK.seed are the bytes 0, 1, 2
// and so on: its PK.root, and the SHA-256 of its deterministic pure signature of kSlhMessage with
// an empty context. `set` is OpenSSL's name without "SLH-DSA-".
struct SlhKnownAnswer {
  std::string_view set, root, signature_sha256;

  std::string subject() const { return "key or signature of SLH-DSA-" + std::string(set); }
};

inline constexpr std::string_view kSlhMessage = "Lanecrypt signs this.";

std::span<const SlhKnownAnswer> slh_known_answers();

}  // namespace lanecrypt::verify
