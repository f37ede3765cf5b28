// SPDX-License-Identifier: Apache-2.0
#include "secure/key_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace lanecrypt::secure {

void wipe(void *memory, size_t bytes) {
  if (bytes != 0) explicit_bzero(memory, bytes);
}

KeyMemory::KeyMemory(size_t bytes, Fork fork) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t mapped = (bytes + page - 1) / page * page;
  if (mapped == 0) return;
  void *memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  // Each of these may be refused; the memory still serves.
  (void)mlock(memory, mapped);
  (void)madvise(memory, mapped, MADV_DONTDUMP);
  if (fork == Fork::kEmpty) (void)madvise(memory, mapped, MADV_WIPEONFORK);
  data_ = static_cast<uint8_t *>(memory);
  bytes_ = bytes;
  mapped_ = mapped;
}

KeyMemory::~KeyMemory() {
  if (data_ == nullptr) return;
  wipe(data_, bytes_);
  munmap(data_, mapped_);
}

KeyMemory::KeyMemory(KeyMemory &&other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      mapped_(std::exchange(other.mapped_, 0)) {}

KeyMemory &KeyMemory::operator=(KeyMemory &&other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

}  // namespace lanecrypt::secure
