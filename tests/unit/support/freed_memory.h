// Searches memory that the program frees through operator delete for secrets.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lanecrypt::test {

// Only one object may exist at a time. Any thread may free memory while it exists.
class FreedMemory {
 public:
  // `secrets` are the byte strings to look for, of at least 16 bytes each. They must stay valid,
  // and must not be freed, while this object exists.
  explicit FreedMemory(const std::vector<std::vector<uint8_t>> &secrets);
  ~FreedMemory();
  FreedMemory(const FreedMemory &) = delete;

  // Returns how many blocks of freed memory contained one of the secrets.
  size_t found() const;
  // Returns how many freed blocks were searched.
  size_t looked_at() const;
};

}  // namespace lanecrypt::test
