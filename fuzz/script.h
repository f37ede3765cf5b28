// Reads a fuzzer's input as a script: small numbers, which choose what is done, and bytes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lanecrypt::fuzz {

// After the end of the input, all numbers are 0.
class Script {
 public:
  Script(const uint8_t *data, size_t size) : left_(data, size) {}

  bool is_over() const { return left_.empty(); }
  uint8_t byte() {
    if (left_.empty()) return 0;
    const uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  // Reads a little-endian number of two bytes.
  uint16_t number() {
    const unsigned low = byte();
    return uint16_t(low | unsigned{byte()} << 8);
  }
  // Returns the next `count` bytes, or those that are left.
  std::span<const uint8_t> bytes(size_t count) {
    const std::span<const uint8_t> taken = left_.first(std::min(count, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }

 private:
  std::span<const uint8_t> left_;
};

// Traps if `holds` is false, so that the fuzzer keeps the input. An assert() would be missing in a
// release build.
inline void require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace lanecrypt::fuzz
