// What the service signs of a message of SLH-DSA: R and the digest (FIPS 205, algorithm 19, lines 3
// to 5). So the message stays in this process, and so does SK.prf.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "provider/pq/signature_context.h"

namespace lanecrypt::provider {

struct SlhDsaInput {
  std::array<uint8_t, 81> bytes;  // as many as the largest sets need
  size_t used = 0;

  std::span<const uint8_t> get() const { return {bytes.data(), used}; }
};

// random: n bytes that hedge the signature; nullptr for a deterministic one. nullopt if the key
// cannot be had, or OpenSSL does not hash.
std::optional<SlhDsaInput> make_slh_dsa_input(const SignatureContext &context,
                                              const uint8_t *random,
                                              std::span<const uint8_t> message);

}  // namespace lanecrypt::provider
