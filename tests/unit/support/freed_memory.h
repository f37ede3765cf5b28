// Looks for secrets in memory that the program frees by operator delete.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lanecrypt::test {

// One at a time. Any thread may free memory meanwhile.
class FreedMemory {
 public:
  // What to look for, of 16 bytes or more each. Must stay, and not be freed, while this is.
  explicit FreedMemory(const std::vector<std::vector<uint8_t>> &secrets);
  ~FreedMemory();
  FreedMemory(const FreedMemory &) = delete;

  // In how many blocks of freed memory there was one of them.
  size_t found() const;
  // How many blocks were looked at.
  size_t looked_at() const;
};

}  // namespace lanecrypt::test
