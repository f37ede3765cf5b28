// The source of random bytes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace lanecrypt {

// `RandomSource` is a function like lc_rsa_generation.random. If it is nullptr, the source is
// OpenSSL's private random generator, in Lanecrypt's own library context.
struct RandomSource {
  int (*function)(void *argument, void *to, size_t bytes) = nullptr;
  void *argument = nullptr;
  bool operator==(const RandomSource &) const = default;
};

}  // namespace lanecrypt
