// Parses the requests for signatures of ML-DSA and SLH-DSA, by the rules of rsa_packets.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "service/wire/messages.h"
#include "service/wire/operation_kind.h"

namespace lanecrypt::service {

// Returns the kind of a request for a signature. `family` must not be kRsa.
constexpr Kind kind_of_signature(Family family) {
  return family == Family::kMlDsa ? Kind::kMlDsaSign : Kind::kSlhDsaSign;
}

struct SignRequest {
  uint64_t key = 0;
  const SignatureSet *set = nullptr;
  std::span<const uint8_t> input;        // `set->input_bytes` long
  std::span<const uint8_t> private_key;  // empty, or `set->key_bytes` long
};
std::optional<SignRequest> read_sign_request(std::span<const uint8_t> packet);

}  // namespace lanecrypt::service
