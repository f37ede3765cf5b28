// SPDX-License-Identifier: Apache-2.0
#include "verify/dice.h"

#include <random>

namespace lanecrypt::verify {

Dice::Dice() {
  std::random_device device;
  state_ = uint64_t{device()} << 32 | device();
}

uint64_t Dice::throw_below(uint64_t bound) {
  uint64_t mixed = state_ += 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
  return bound == 0 ? 0 : (mixed ^ mixed >> 31) % bound;
}

}  // namespace lanecrypt::verify
