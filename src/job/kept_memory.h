// Keeps memory of large jobs' lists for the next large job, so that the system need not clear new
// pages for it, which takes longer than filling them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace lanecrypt {

// Blocks that are shorter or longer than these limits are never kept, and no more than
// kMostKeptBlocks are.
constexpr size_t kLeastKeptBytes = 256 << 10, kMostKeptBytes = 16 << 20, kMostKeptBlocks = 2;

// Returns at least `bytes` bytes, aligned for any type and not cleared. Throws std::bad_alloc.
// Thread-safe, and safe in a child of fork().
void *take_kept(size_t bytes);
// Takes back memory of take_kept(). Its contents are not wiped, so it must hold neither keys nor
// data.
void give_kept(void *memory) noexcept;
// Returns how many unused blocks are kept.
size_t count_kept() noexcept;
// Frees all kept blocks.
void free_kept() noexcept;

// An allocator for a std::vector of such memory, which leaves new elements uninitialized.
template <typename T>
struct KeptAllocator {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  using value_type = T;

  KeptAllocator() = default;
  template <typename U>
  explicit KeptAllocator(const KeptAllocator<U> &) {}
  bool operator==(const KeptAllocator &) const = default;

  T *allocate(size_t count) {
    if (count > static_cast<size_t>(-1) / 2 / sizeof(T)) throw std::bad_alloc();
    return static_cast<T *>(take_kept(count * sizeof(T)));
  }
  void deallocate(T *memory, size_t) noexcept { give_kept(memory); }
  template <typename U>
  void construct(U *place) {
    ::new (static_cast<void *>(place)) U;
  }
  template <typename U, typename... Arguments>
  void construct(U *place, Arguments &&...arguments) {
    ::new (static_cast<void *>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

template <typename T>
using KeptVector = std::vector<T, KeptAllocator<T>>;

}  // namespace lanecrypt
