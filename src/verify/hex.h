// Bytes of the known answers, as their sources print them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace lanecrypt::verify {

// `hex` has an even number of lower-case digits.
inline std::vector<uint8_t> from_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<uint8_t> bytes;
  for (size_t n = 0; n + 1 < hex.size(); n += 2)
    bytes.push_back(static_cast<uint8_t>(digit(hex[n]) << 4 | digit(hex[n + 1])));
  return bytes;
}

}  // namespace lanecrypt::verify
