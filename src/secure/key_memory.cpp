// Allocates, locks and wipes memory for keys.
//
// SPDX-License-Identifier: Apache-2.0
#include "secure/key_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "secure/slab.h"

namespace lanecrypt::secure {

void wipe(void *memory, size_t bytes) {
  if (bytes != 0) explicit_bzero(memory, bytes);
}

KeyMemory::KeyMemory(size_t bytes, Fork fork) {
  if (bytes == 0) return;
  const Block block = take_block(bytes, fork);
  data_ = block.data;
  slab_ = block.slab;
  if (data_ == nullptr) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    mapped_ = (bytes + page - 1) / page * page;
    data_ = map_pages(mapped_, fork);
  }
  if (data_ != nullptr) bytes_ = bytes;
}

KeyMemory::~KeyMemory() {
  if (data_ == nullptr) return;
  wipe(data_, bytes_);
  if (slab_ != nullptr)
    slab_->give_back(data_);
  else
    munmap(data_, mapped_);
}

void KeyMemory::lock() const {
  if (data_ != nullptr) (void)mlock(data_, bytes_);
}

KeyMemory::KeyMemory(KeyMemory &&other) noexcept { *this = std::move(other); }

KeyMemory &KeyMemory::operator=(KeyMemory &&other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_, other.mapped_);
  std::swap(slab_, other.slab_);
  return *this;
}

}  // namespace lanecrypt::secure
