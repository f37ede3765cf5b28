// Chooses which part of a device's output is checked.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanecrypt::verify {

// A pseudo-random generator (Sebastiano Vigna's splitmix64). No secret depends on it.
class RandomSampler {
 public:
  RandomSampler();
  uint64_t uniform_below(uint64_t bound);

 private:
  uint64_t state_;
};

}  // namespace lanecrypt::verify
