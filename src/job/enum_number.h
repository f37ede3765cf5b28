// Reads the number in a caller's enum. A C program may have set it to anything, and in C++ it is
// undefined behaviour to read an enum that holds no value of its type.
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
