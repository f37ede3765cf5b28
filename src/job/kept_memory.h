// Memory of large jobs' lists that the next large job finds again, so that the system
// need not clear fresh pages for it: that takes longer than to fill them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace lanecrypt {

// Shorter blocks are never kept, nor longer ones; nor are more than so many.
constexpr size_t kLeastKeptBytes = 256 << 10, kMostKeptBytes = 16 << 20, kMostKeptBlocks = 2;

// At least `bytes`, aligned for anything, not cleared; throws std::bad_alloc. Any
// thread, and in a child of fork too.
void *take_kept(size_t bytes);
// What take_kept() gave. It holds whatever was written there: no keys, nor data.
void give_kept(void *memory) noexcept;
// How many blocks are kept, and for nobody now.
size_t count_kept() noexcept;
// Frees what is kept.
void free_kept() noexcept;

// For a std::vector of such memory, whose new elements are as they are found.
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
