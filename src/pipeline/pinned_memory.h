// The pinned host memory that callers have from lc_alloc_pinned(). Data in it need no staging.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace lanecrypt::runtime {

// Any thread.
class PinnedMemory {
 public:
  void add(const void *start, uint64_t bytes) {
    std::lock_guard lock(mutex_);
    ranges_[reinterpret_cast<uintptr_t>(start)] = bytes;
  }
  void remove(const void *start) {
    std::lock_guard lock(mutex_);
    ranges_.erase(reinterpret_cast<uintptr_t>(start));
  }
  // Whether all these bytes are in one allocation.
  bool holds(const void *start, uint64_t bytes) const {
    const uintptr_t address = reinterpret_cast<uintptr_t>(start);
    std::lock_guard lock(mutex_);
    auto range = ranges_.upper_bound(address);
    if (range == ranges_.begin()) return false;
    --range;
    return address - range->first <= range->second &&
           bytes <= range->second - (address - range->first);
  }

 private:
  mutable std::mutex mutex_;
  std::map<uintptr_t, uint64_t> ranges_;
};

}  // namespace lanecrypt::runtime
