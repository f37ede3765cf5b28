// Mappings of locked memory that many short keys share. So a key costs no system call; those would
// hold up all threads of the process.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "secure/key_memory.h"

namespace lanecrypt::secure {

// map_pages() maps zeroed pages with the protections that KeyMemory promises, as far as the system
// grants them. It returns nullptr if there is no memory.
uint8_t *map_pages(size_t bytes, KeyMemory::Fork fork);

// Slab is a mapping that is divided into blocks of one size, with a bit for each free block. The
// bits are changed without a lock, so a child of fork() may use them whatever other threads did at
// the time.
class Slab {
 public:
  static constexpr size_t kSlotsOfWord = 64, kMostWords = 64;

  // The constructor takes ownership of `memory`, which has words * kSlotsOfWord * slot_bytes bytes.
  Slab(uint8_t *memory, size_t slot_bytes, size_t words);
  size_t bytes() const { return words_ * kSlotsOfWord * slot_bytes_; }
  // take() returns a zeroed block; nullptr if all are in use.
  uint8_t *take();
  // give_back() returns a block, which the caller must have zeroed.
  void give_back(uint8_t *block);

 private:
  uint8_t *const memory_;
  const size_t slot_bytes_, words_;
  // The index of the word that last had a free bit.
  std::atomic<size_t> hint_{0};
  std::atomic<uint64_t> free_[kMostWords] = {};
};

struct Block {
  uint8_t *data = nullptr;
  Slab *slab = nullptr;
};

// take_block() takes a block of at least `bytes` bytes from a slab of this process, which exists
// until the process ends. The result is empty if the block is too long, or too many blocks are in
// use.
Block take_block(size_t bytes, KeyMemory::Fork fork);

}  // namespace lanecrypt::secure
