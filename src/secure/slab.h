// Mappings of locked memory that many short keys share, so that a key costs no
// system call: they would hold up all threads of the process at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "secure/key_memory.h"

namespace lanecrypt::secure {

// Pages with the guards that KeyMemory promises, as many as the system grants;
// zeroed. nullptr where there are none.
uint8_t *map_pages(size_t bytes, KeyMemory::Fork fork);

// A mapping cut into blocks of one size. What is free is a bit each, changed without a
// lock: a child of fork may use it whatever other threads did meanwhile.
class Slab {
 public:
  static constexpr size_t kSlotsOfWord = 64, kMostWords = 64;

  // Takes the memory over, of words * kSlotsOfWord * slot_bytes.
  Slab(uint8_t *memory, size_t slot_bytes, size_t words);
  size_t bytes() const { return words_ * kSlotsOfWord * slot_bytes_; }
  // A zeroed block; nullptr where all are taken.
  uint8_t *take();
  // Of a block that was taken, and zeroed again.
  void give_back(uint8_t *block);

 private:
  uint8_t *const memory_;
  const size_t slot_bytes_, words_;
  // Where a block was free last.
  std::atomic<size_t> hint_{0};
  std::atomic<uint64_t> free_[kMostWords] = {};
};

struct Block {
  uint8_t *data = nullptr;
  Slab *slab = nullptr;
};

// A block of at least `bytes` from a slab of the process, which stays until the
// process ends; nothing for those that are too long, or where too many are taken.
Block take_block(size_t bytes, KeyMemory::Fork fork);

}  // namespace lanecrypt::secure
