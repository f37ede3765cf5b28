// Memory for keys on the host. It is locked where the limit allows, left out of core
// dumps, empty in a child of fork unless the child must go on with it, and wiped when it
// is freed. Short keys share pages (slab.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lanecrypt::secure {

class Slab;

// A zeroed block that cannot be copied. Where the system refuses to lock it
// (RLIMIT_MEMLOCK), it is used all the same: its other guards hold.
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
  // Locks it again, where the limit allows: a child of fork inherits kKept memory, but no
  // locks.
  void lock() const;
  // False where so many bytes could not be had.
  bool ok(size_t bytes) const { return bytes_ >= bytes; }

 private:
  uint8_t *data_ = nullptr;
  size_t bytes_ = 0;
  size_t mapped_ = 0;     // bytes of its own pages; 0 where
  Slab *slab_ = nullptr;  // it shares those of this one
};

// Zeroes memory in a way that the compiler keeps.
void wipe(void *memory, size_t bytes);

}  // namespace lanecrypt::secure
