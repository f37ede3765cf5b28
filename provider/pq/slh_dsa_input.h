// The part of an SLH-DSA signature that stays in this process: R and the message digest (FIPS 205,
// Algorithm 19, slh_sign_internal, lines 3 to 5). The service gets only these, so neither the
// message nor SK.prf leaves the process.
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
  std::array<uint8_t, 81> bytes;  // as many as the largest parameter sets need
  size_t used = 0;

  std::span<const uint8_t> get() const { return {bytes.data(), used}; }
};

// make_slh_dsa_input() computes R and the digest. `random` is the n bytes of opt_rand; nullptr for
// a deterministic signature. It returns nullopt if the key cannot be exported or OpenSSL fails to
// hash.
std::optional<SlhDsaInput> make_slh_dsa_input(const SignatureContext &context,
                                              const uint8_t *random,
                                              std::span<const uint8_t> message);

}  // namespace lanecrypt::provider
