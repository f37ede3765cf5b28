// SPDX-License-Identifier: Apache-2.0
#include "service/wire/result.h"

#include "service/wire/packets.h"

namespace lanecrypt::service {

std::optional<OperationResult> read_result(std::span<const uint8_t> packet, size_t output_bytes) {
  std::span<const uint8_t> rest;
  const auto fixed = fixed_part<Result>(packet, Kind::kResult, &rest);
  if (!fixed || !is_known(fixed->outcome) || rest.size() != fixed->output_bytes)
    return std::nullopt;
  const bool is_done = fixed->outcome == Outcome::kDone;
  if (rest.size() != (is_done ? output_bytes : 0)) return std::nullopt;
  return OperationResult{fixed->outcome, rest};
}

}  // namespace lanecrypt::service
