// Conversion of the known answers' hexadecimal digits to bytes and back.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lanecrypt::verify {

// `hex` must have an even number of lower-case digits.
inline std::vector<uint8_t> from_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<uint8_t> bytes;
  for (size_t n = 0; n + 1 < hex.size(); n += 2)
    bytes.push_back(static_cast<uint8_t>(digit(hex[n]) << 4 | digit(hex[n + 1])));
  return bytes;
}

inline std::string to_hex(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

}  // namespace lanecrypt::verify
