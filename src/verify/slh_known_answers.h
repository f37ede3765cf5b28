// What a device must answer before it is trusted with SLH-DSA.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lanecrypt::verify {

// Of the key whose seeds are the bytes 0, 1, 2 and so on (SK.seed, SK.prf, PK.seed): its
// PK.root, and the SHA-256 of its deterministic signature of kSlhMessage, pure and without a
// context. In hex; the set as OpenSSL names it after "SLH-DSA-".
struct SlhKnownAnswer {
  std::string_view set, root, signature_sha256;

  std::string subject() const { return "key or signature of SLH-DSA-" + std::string(set); }
};

inline constexpr std::string_view kSlhMessage = "Lanecrypt signs this.";

std::span<const SlhKnownAnswer> slh_known_answers();

}  // namespace lanecrypt::verify
