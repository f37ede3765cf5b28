// Divisions that round up.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanecrypt {

// divide_up: `value` / `by`, rounded up.
constexpr uint64_t divide_up(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

// round_up: the first multiple of `unit` from `value` on.
constexpr uint64_t round_up(uint64_t value, uint64_t unit) { return divide_up(value, unit) * unit; }

// count_up: divide_up() where the result is known to fit.
constexpr uint32_t count_up(uint64_t value, uint64_t by) {
  return static_cast<uint32_t>(divide_up(value, by));
}

}  // namespace lanecrypt
