// Where random bytes come from.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace lanecrypt {

// A function as lc_rsa_generation.random. nullptr: OpenSSL's private random generator, in a library
// context of Lanecrypt's own.
struct RandomSource {
  int (*function)(void *argument, void *to, size_t bytes) = nullptr;
  void *argument = nullptr;
  bool operator==(const RandomSource &) const = default;
};

}  // namespace lanecrypt
