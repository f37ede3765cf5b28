// Memory for keys on the host: locked where the limit allows, out of core
// dumps, empty in a child of fork unless it must work on there, and wiped when
// it goes. Short ones share pages (slab.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lanecrypt::secure {

class Slab;

// A zeroed block that cannot be copied. Where locking is refused
// (RLIMIT_MEMLOCK) it is used all the same: the rest of its guards hold.
class KeyMemory {
 public:
  // What a child of fork finds in it.
  enum class Fork { kEmpty, kKept };

  KeyMemory() = default;
  explicit KeyMemory(size_t bytes, Fork fork = Fork::kEmpty);
  ~KeyMemory();
  KeyMemory(KeyMemory &&other) noexcept;
  KeyMemory &operator=(KeyMemory &&other) noexcept;

  uint8_t *data() { return data_; }
  const uint8_t *data() const { return data_; }
  size_t size() const { return bytes_; }
  // Locks it once more, where the limit allows: a child of fork inherits what is kKept,
  // and no locks.
  void lock() const;
  // False where `bytes` could not be had at all.
  bool ok(size_t bytes) const { return bytes_ >= bytes; }

 private:
  uint8_t *data_ = nullptr;
  size_t bytes_ = 0;
  size_t mapped_ = 0;     // of its own pages, where
  Slab *slab_ = nullptr;  // it does not share those of this
};

// Zeroes memory in a way that the compiler keeps.
void wipe(void *memory, size_t bytes);

}  // namespace lanecrypt::secure
