// Which operations one launch can take together.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace lanecrypt::runtime {

// What operations have in common which one launch can take together, by numbers of their
// family's own.
struct BatchKind {
  uint32_t operation = 0;
  uint32_t size = 0;  // of the keys, as a rule; 0: no device takes it

  bool suits_devices() const { return size != 0; }
  auto operator<=>(const BatchKind &) const = default;
};

}  // namespace lanecrypt::runtime
