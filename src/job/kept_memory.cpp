// SPDX-License-Identifier: Apache-2.0
#include "job/kept_memory.h"

#include <atomic>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, bytes) (static_cast<void>(0))
#define ASAN_UNPOISON_MEMORY_REGION(memory, bytes) (static_cast<void>(0))
#endif

namespace lanecrypt {
namespace {

// The header in front of the memory of a block.
struct alignas(64) Block {
  size_t bytes;  // of the memory after the header

  void *memory() { return this + 1; }
};

// The kept blocks. Each is one word that is changed without a lock: a child of fork() may use it
// whatever other threads were doing. Trivially destructible.
constinit std::atomic<Block *> places[kMostKeptBlocks] = {};

bool is_kept(size_t bytes) { return bytes >= kLeastKeptBytes && bytes <= kMostKeptBytes; }

void free_block(Block *block) noexcept {
  if (block == nullptr) return;
  ASAN_UNPOISON_MEMORY_REGION(block->memory(), block->bytes);
  ::operator delete(block, std::align_val_t(alignof(Block)));
}

// Keeps a block. If there is no free slot, frees an older block.
void put_away(Block *block) noexcept {
  for (std::atomic<Block *> &place : places)
    if (Block *none = nullptr; place.compare_exchange_strong(none, block)) return;
  free_block(places[0].exchange(block));
}

}  // namespace

void *take_kept(size_t bytes) {
  for (size_t n = 0; n < kMostKeptBlocks && is_kept(bytes); ++n) {
    Block *const block = places[n].exchange(nullptr);
    if (block == nullptr) continue;
    if (block->bytes >= bytes) {
      ASAN_UNPOISON_MEMORY_REGION(block->memory(), bytes);
      return block->memory();
    }
    put_away(block);
  }
  void *const memory = ::operator new(sizeof(Block) + bytes, std::align_val_t(alignof(Block)));
  return (::new (memory) Block{bytes})->memory();
}

void give_kept(void *memory) noexcept {
  if (memory == nullptr) return;
  Block *const block = static_cast<Block *>(memory) - 1;
  if (!is_kept(block->bytes)) return free_block(block);
  ASAN_POISON_MEMORY_REGION(block->memory(), block->bytes);
  put_away(block);
}

size_t count_kept() noexcept {
  size_t count = 0;
  for (const std::atomic<Block *> &place : places) count += place.load() != nullptr ? 1 : 0;
  return count;
}

void free_kept() noexcept {
  for (std::atomic<Block *> &place : places) free_block(place.exchange(nullptr));
}

}  // namespace lanecrypt
