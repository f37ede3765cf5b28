// Pseudo-random input from a seed, the same on every machine.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "provider/provider_under_test.h"

namespace provider_test {

using Random = std::mt19937_64;

inline size_t below(Random &random, size_t limit) { return size_t(random() % limit); }

inline Bytes random_bytes(Random &random, size_t bytes) {
  Bytes out(bytes);
  for (uint8_t &byte : out) byte = uint8_t(random());
  return out;
}

inline Bytes slice(const Bytes &from, size_t at, size_t bytes) {
  return Bytes(from.begin() + long(at), from.begin() + long(at + bytes));
}

}  // namespace provider_test
