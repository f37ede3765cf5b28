// Manages the slabs of each block size, without locks.
//
// SPDX-License-Identifier: Apache-2.0
#include "secure/slab.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, bytes) (static_cast<void>(0))
#define ASAN_UNPOISON_MEMORY_REGION(memory, bytes) (static_cast<void>(0))
#endif

namespace lanecrypt::secure {
namespace {

// Size is a block size. If a size has many blocks, the first slab is a page, and each further one
// is four times as long, up to `most_words` words: programs may have two blocks for each
// connection.
struct Size {
  size_t slot_bytes, most_words;
};
// For the key of a cipher, a prime, the numbers of a key, and a key in the form that devices need.
constexpr Size kSlots[] = {{64, Slab::kMostWords}, {512, 1}, {2048, 1}, {8192, 1}};
constexpr size_t kSizes = std::size(kSlots);
constexpr size_t kMostSlabs = 256;

size_t words_of(const Size &size, size_t n) {
  return n < 3 ? std::min(size.most_words, size_t{1} << (2 * n)) : size.most_words;
}

// Shelf has the slabs of one block size. Its destructor does nothing: threads may use it while the
// process ends.
struct Shelf {
  std::atomic<Slab *> slabs[kMostSlabs];
  // The index of the slab that last had a free block.
  std::atomic<size_t> hint;
};

constinit Shelf shelves[2][kSizes] = {};

// add_slab() adds a slab at index `n`, unless another thread has added one. It returns false if
// there is no memory.
bool add_slab(Shelf &shelf, size_t n, const Size &size, KeyMemory::Fork fork) {
  const size_t words = words_of(size, n), bytes = words * Slab::kSlotsOfWord * size.slot_bytes;
  uint8_t *const memory = map_pages(bytes, fork);
  if (memory == nullptr) return false;
  Slab *const slab = new (std::nothrow) Slab(memory, size.slot_bytes, words);
  Slab *there = nullptr;
  if (slab != nullptr &&
      shelf.slabs[n].compare_exchange_strong(there, slab, std::memory_order_acq_rel))
    return true;
  delete slab;
  ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
  munmap(memory, bytes);
  return there != nullptr;
}

}  // namespace

uint8_t *map_pages(size_t bytes, KeyMemory::Fork fork) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  // The system may refuse each of these. The memory is then used without that protection.
  (void)mlock(memory, bytes);
  (void)madvise(memory, bytes, MADV_DONTDUMP);
  if (fork == KeyMemory::Fork::kEmpty) (void)madvise(memory, bytes, MADV_WIPEONFORK);
  return static_cast<uint8_t *>(memory);
}

Slab::Slab(uint8_t *memory, size_t slot_bytes, size_t words)
    : memory_(memory), slot_bytes_(slot_bytes), words_(words) {
  ASAN_POISON_MEMORY_REGION(memory_, bytes());
  for (size_t word = 0; word < words_; ++word) free_[word] = UINT64_MAX;
}

uint8_t *Slab::take() {
  const size_t first = hint_.load(std::memory_order_relaxed);
  for (size_t tried = 0; tried < words_; ++tried) {
    const size_t word = (first + tried) % words_;
    uint64_t free = free_[word].load(std::memory_order_relaxed);
    while (free != 0) {
      if (!free_[word].compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire,
                                             std::memory_order_relaxed))
        continue;
      if (tried != 0) hint_.store(word, std::memory_order_relaxed);
      const size_t slot = word * kSlotsOfWord + size_t(std::countr_zero(free));
      uint8_t *const block = memory_ + slot * slot_bytes_;
      ASAN_UNPOISON_MEMORY_REGION(block, slot_bytes_);
      return block;
    }
  }
  return nullptr;
}

void Slab::give_back(uint8_t *block) {
  ASAN_POISON_MEMORY_REGION(block, slot_bytes_);
  const size_t slot = size_t(block - memory_) / slot_bytes_, word = slot / kSlotsOfWord;
  free_[word].fetch_or(uint64_t{1} << slot % kSlotsOfWord, std::memory_order_release);
  hint_.store(word, std::memory_order_relaxed);
}

Block take_block(size_t bytes, KeyMemory::Fork fork) {
  size_t size = 0;
  while (size < kSizes && kSlots[size].slot_bytes < bytes) ++size;
  if (size == kSizes) return {};
  Shelf &shelf = shelves[fork == KeyMemory::Fork::kKept ? 1 : 0][size];
  const auto slab_at = [&](size_t n) { return shelf.slabs[n].load(std::memory_order_acquire); };
  size_t count = 0;
  while (count < kMostSlabs && slab_at(count) != nullptr) ++count;
  const size_t first = shelf.hint.load(std::memory_order_relaxed);
  for (size_t tried = 0; tried < count; ++tried) {
    const size_t n = (first + tried) % count;
    if (uint8_t *const data = slab_at(n)->take(); data != nullptr) {
      if (tried != 0) shelf.hint.store(n, std::memory_order_relaxed);
      return {data, slab_at(n)};
    }
  }
  for (size_t n = count; n < kMostSlabs; ++n) {
    if (slab_at(n) == nullptr && !add_slab(shelf, n, kSlots[size], fork)) break;
    if (uint8_t *const data = slab_at(n)->take(); data != nullptr) return {data, slab_at(n)};
  }
  return {};
}

}  // namespace lanecrypt::secure
