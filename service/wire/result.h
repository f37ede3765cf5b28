// Parses the answer to an operation with a key.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "service/wire/messages.h"

namespace lanecrypt::service {

constexpr bool is_known(Outcome outcome) { return outcome <= Outcome::kFaultSigned; }

struct OperationResult {
  Outcome outcome = Outcome::kFailed;
  std::span<const uint8_t> output;  // empty unless the outcome is kDone
};
// Parses a kResult packet. Returns nullopt if a size or the outcome is invalid. `output_bytes`: the
// length of the output that the request asks for.
std::optional<OperationResult> read_result(std::span<const uint8_t> packet, size_t output_bytes);

}  // namespace lanecrypt::service
