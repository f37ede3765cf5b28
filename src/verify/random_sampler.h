// Chooses where to take a sample of what a device gives back.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanecrypt::verify {

// No secret depends on it (Sebastiano Vigna's splitmix64).
class RandomSampler {
 public:
  RandomSampler();
  uint64_t uniform_below(uint64_t bound);

 private:
  uint64_t state_;
};

}  // namespace lanecrypt::verify
