// Random numbers that are the same in every run, so that a failure can be reproduced.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

namespace lanecrypt::test {

// SplitMix64. It is not a cryptographic generator: never use it for keys that protect anything.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Returns a number from 0 to bound - 1.
  uint64_t below(uint64_t bound) { return next() % bound; }

  void fill(uint8_t *to, uint64_t bytes) {
    for (; bytes >= 8; to += 8, bytes -= 8) {
      uint64_t word = next();
      std::memcpy(to, &word, 8);
    }
    uint64_t word = next();
    if (bytes != 0) std::memcpy(to, &word, bytes);
  }

 private:
  uint64_t state_;
};

}  // namespace lanecrypt::test
