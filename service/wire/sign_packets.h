// Packets of signatures by ML-DSA and SLH-DSA, read, as rsa_packets.h has it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "service/wire/messages.h"
#include "service/wire/sort.h"

namespace lanecrypt::service {

// Not for RSA.
constexpr Kind kind_of_signature(Family family) {
  return family == Family::kMlDsa ? Kind::kMlDsaSign : Kind::kSlhDsaSign;
}

struct SignRequest {
  uint64_t key = 0;
  const SignatureSet *set = nullptr;
  std::span<const uint8_t> input;        // as long as its set has it
  std::span<const uint8_t> private_key;  // empty, or as long as those of its set
};
std::optional<SignRequest> read_sign_request(std::span<const uint8_t> packet);

}  // namespace lanecrypt::service
