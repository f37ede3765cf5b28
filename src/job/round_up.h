// Divisions that round up.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanecrypt {

// divide_up() returns `value` / `by`, rounded up.
constexpr uint64_t divide_up(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

// round_up() returns the least multiple of `unit` that is at least `value`.
constexpr uint64_t round_up(uint64_t value, uint64_t unit) { return divide_up(value, unit) * unit; }

// count_up() is divide_up() for results that are known to fit into 32 bits.
constexpr uint32_t count_up(uint64_t value, uint64_t by) {
  return static_cast<uint32_t>(divide_up(value, by));
}

}  // namespace lanecrypt
