// Parses the packets of RSA. Each function returns spans into the packet if all sizes are valid,
// and nullopt otherwise. It does not check that the numbers of a key are consistent.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "service/wire/messages.h"

namespace lanecrypt::service {

// The parts of a key, indexed by KeyPart, big-endian. A part that is left out is empty. A key of
// another family than RSA has kWholeKey alone.
using KeyParts = std::array<std::span<const uint8_t>, kKeyParts>;

struct PrivateRequest {
  uint64_t key = 0;
  std::span<const uint8_t> input;  // as long as the modulus
  std::optional<KeyParts> parts;   // without kD
};
std::optional<PrivateRequest> read_private_request(std::span<const uint8_t> packet);

struct GenerateRequest {
  uint32_t bits = 0;  // even, from 1024 to 8192
  std::span<const uint8_t> exponent;
};
std::optional<GenerateRequest> read_generate_request(std::span<const uint8_t> packet);

struct GeneratedKey {
  Outcome outcome = Outcome::kFailed;
  KeyParts parts;  // all of them if the outcome is kDone, otherwise none
};
std::optional<GeneratedKey> read_generated_key(std::span<const uint8_t> packet);

}  // namespace lanecrypt::service
