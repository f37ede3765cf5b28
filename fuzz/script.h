// A fuzzer's input, read as a script: small numbers that choose what is done, and bytes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lanecrypt::fuzz {

// Whatever is left out is 0.
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
  // Of two bytes, the lower one first.
  uint16_t number() {
    const unsigned low = byte();
    return uint16_t(low | unsigned{byte()} << 8);
  }
  // The next bytes, fewer where the script ends.
  std::span<const uint8_t> bytes(size_t count) {
    const std::span<const uint8_t> taken = left_.first(std::min(count, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }

 private:
  std::span<const uint8_t> left_;
};

// Ends the program, so that the fuzzer keeps the input. Not an assert(): that goes in a release.
inline void require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace lanecrypt::fuzz
