// Packets of RSA, read: what has the right sizes comes out as spans into the packet, anything
// else as nothing. What the numbers are to each other is not looked at here.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "service/wire/messages.h"

namespace lanecrypt::service {

// The parts of a key by KeyPart, big-endian. Empty where a part is left out. A key of another
// family has kWholeKey alone.
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
  KeyParts parts;  // all of them, unless the outcome is another than kDone
};
std::optional<GeneratedKey> read_generated_key(std::span<const uint8_t> packet);

}  // namespace lanecrypt::service
