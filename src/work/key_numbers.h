// The keys of a chunk, counted as they are first used.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace lanecrypt::runtime {

// Tells for each key of a request which number it has in a chunk. The work for a chunk
// must not grow with the keys of a large request that the chunk does not use.
class KeyNumbers {
 public:
  // Forgets all, for a request with so many keys.
  void begin(uint32_t keys) {
    for (const uint32_t slot : used_) numbers_[slot] = kNone;
    used_.clear();
    if (numbers_.size() < keys) numbers_.resize(keys, kNone);
  }
  // The number of a key. A new key gets `next`.
  uint32_t number_of(uint32_t slot, uint32_t next) {
    if (numbers_[slot] == kNone) {
      numbers_[slot] = next;
      used_.push_back(slot);
    }
    return numbers_[slot];
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> numbers_, used_;
};

}  // namespace lanecrypt::runtime
