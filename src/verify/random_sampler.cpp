// SPDX-License-Identifier: Apache-2.0
#include "verify/random_sampler.h"

#include <unistd.h>

#include <chrono>

namespace lanecrypt::verify {

// Does not use std::random_device, which may open a file; a sandbox may forbid that, and it then
// throws.
RandomSampler::RandomSampler() {
  if (getentropy(&state_, sizeof state_) == 0) return;
  state_ = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) ^
           reinterpret_cast<uintptr_t>(this);
}

uint64_t RandomSampler::uniform_below(uint64_t bound) {
  uint64_t mixed = state_ += 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
  return bound == 0 ? 0 : (mixed ^ mixed >> 31) % bound;
}

}  // namespace lanecrypt::verify
