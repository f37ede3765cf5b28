// SPDX-License-Identifier: Apache-2.0
#include "freed_memory.h"

#include <malloc.h>
#include <string.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

namespace lanecrypt::test {
namespace {

std::mutex mutex;
const std::vector<std::vector<uint8_t>> *secrets = nullptr;  // guarded by `mutex`
std::atomic<bool> looks = false;
std::atomic<size_t> found_blocks = 0, all_blocks = 0;

void look_at(const void *memory) {
  if (memory == nullptr || !looks) return;
  std::lock_guard lock(mutex);
  if (secrets == nullptr) return;
  const size_t bytes = malloc_usable_size(const_cast<void *>(memory));
  const auto is_there = [&](const std::vector<uint8_t> &secret) {
    return memmem(memory, bytes, secret.data(), secret.size()) != nullptr;
  };
  ++all_blocks;
  if (std::any_of(secrets->begin(), secrets->end(), is_there)) ++found_blocks;
}

}  // namespace

FreedMemory::FreedMemory(const std::vector<std::vector<uint8_t>> &watched) {
  std::lock_guard lock(mutex);
  secrets = &watched;
  found_blocks = all_blocks = 0;
  looks = true;
}

FreedMemory::~FreedMemory() {
  std::lock_guard lock(mutex);
  looks = false;
  secrets = nullptr;
}

size_t FreedMemory::found() const { return found_blocks; }

size_t FreedMemory::looked_at() const { return all_blocks; }

}  // namespace lanecrypt::test

// The global operator new. The other forms call this one, except those for larger alignments.
// AddressSanitizer's nothrow form would not.
void *operator new(size_t bytes) {
  void *const memory = std::malloc(std::max<size_t>(bytes, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void *operator new(size_t bytes, const std::nothrow_t &) noexcept {
  return std::malloc(std::max<size_t>(bytes, 1));
}

void operator delete(void *memory) noexcept {
  lanecrypt::test::look_at(memory);
  std::free(memory);
}

void operator delete(void *memory, size_t) noexcept { operator delete(memory); }
