// Host memory for keys. It is locked if the limit allows, excluded from core dumps, zeroed in a
// child of fork() unless the child must continue to use it, and wiped when it is freed. Short keys
// share pages (slab.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lanecrypt::secure {

class Slab;

// KeyMemory is a zeroed block that cannot be copied. If the system refuses to lock it
// (RLIMIT_MEMLOCK), it is used nevertheless, because the other protections still hold. If there is
// no memory, it is empty: see ok().
class KeyMemory {
 public:
  // Fork says what a child of fork() finds in the memory.
  enum class Fork { kEmpty, kKept };

  KeyMemory() = default;
  explicit KeyMemory(size_t bytes, Fork fork = Fork::kEmpty);
  ~KeyMemory();
  KeyMemory(KeyMemory &&other) noexcept;
  KeyMemory &operator=(KeyMemory &&other) noexcept;

  uint8_t *data() { return data_; }
  const uint8_t *data() const { return data_; }
  size_t size() const { return bytes_; }
  // lock() locks the memory again, if the limit allows: a child of fork() inherits kKept memory,
  // but no locks.
  void lock() const;
  // ok() returns false if fewer than `bytes` bytes could be allocated.
  bool ok(size_t bytes) const { return bytes_ >= bytes; }

 private:
  uint8_t *data_ = nullptr;
  size_t bytes_ = 0;
  size_t mapped_ = 0;     // the bytes of its own mapping; 0 if
  Slab *slab_ = nullptr;  // it shares pages of this slab
};

// wipe() zeroes memory in a way that the compiler does not optimise away.
void wipe(void *memory, size_t bytes);

}  // namespace lanecrypt::secure
