// The number in an enum of a caller's. A C program may have set it to anything, and C++ may not
// look at one that is no value of its type.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

namespace lanecrypt {

template <typename Enum>
uint32_t enum_number(const Enum &value) {
  uint32_t number = 0;
  static_assert(sizeof value == sizeof number);
  std::memcpy(&number, &value, sizeof number);
  return number;
}

}  // namespace lanecrypt
