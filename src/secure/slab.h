// Mappings of locked memory that many short keys share. So a key costs no system call;
// those would hold up all threads of the process.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "secure/key_memory.h"

namespace lanecrypt::secure {

// Zeroed pages with the guards that KeyMemory promises, as many guards as the system
// grants. nullptr where there are no pages.
uint8_t *map_pages(size_t bytes, KeyMemory::Fork fork);

// A mapping cut into blocks of one size, with a bit for each free block. The bits change
// without a lock, so a child of fork may use them whatever other threads did meanwhile.
class Slab {
 public:
  static constexpr size_t kSlotsOfWord = 64, kMostWords = 64;

  // Takes over the memory, of words * kSlotsOfWord * slot_bytes bytes.
  Slab(uint8_t *memory, size_t slot_bytes, size_t words);
  size_t bytes() const { return words_ * kSlotsOfWord * slot_bytes_; }
  // A zeroed block; nullptr where all are taken.
  uint8_t *take();
  // Gives back a block, which the caller has zeroed again.
  void give_back(uint8_t *block);

 private:
  uint8_t *const memory_;
  const size_t slot_bytes_, words_;
  // The word that last had a free block.
  std::atomic<size_t> hint_{0};
  std::atomic<uint64_t> free_[kMostWords] = {};
};

struct Block {
  uint8_t *data = nullptr;
  Slab *slab = nullptr;
};

// A block of at least `bytes` from a slab of the process, which stays until the process
// ends. Nothing for a block that is too long, or where too many are taken.
Block take_block(size_t bytes, KeyMemory::Fork fork);

}  // namespace lanecrypt::secure
