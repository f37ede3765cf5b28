// A byte vector that wipes its memory when it is freed, also when it grows. It is for short-lived
// data derived from secrets; keys are in KeyMemory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "secure/key_memory.h"

namespace lanecrypt::secure {

template <typename T>
struct WipingAllocator : std::allocator<T> {
  WipingAllocator() = default;
  template <typename Other>
  WipingAllocator(const WipingAllocator<Other> &) {}
  template <typename Other>
  struct rebind {
    using other = WipingAllocator<Other>;
  };
  void deallocate(T *memory, size_t count) {
    wipe(memory, count * sizeof(T));
    std::allocator<T>::deallocate(memory, count);
  }
};

using WipedBytes = std::vector<uint8_t, WipingAllocator<uint8_t>>;

}  // namespace lanecrypt::secure
