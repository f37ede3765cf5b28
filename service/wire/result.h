// The answer to an operation with a key, read.
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
// Nothing if the sizes are wrong. output_bytes: what the request asked for.
std::optional<OperationResult> read_result(std::span<const uint8_t> packet, size_t output_bytes);

}  // namespace lanecrypt::service
