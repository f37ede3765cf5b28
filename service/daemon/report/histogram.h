// A histogram of a number. Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace lanecrypt::service::daemon {

// Counts integers: bucket n has those up to 2^(first + n) that are not in a lower bucket, and the
// last bucket has all others.
class Histogram {
 public:
  static constexpr size_t kBuckets = 26;

  explicit constexpr Histogram(unsigned first) : first_(first) {}

  void add(uint64_t value) {
    const unsigned power = value <= 1 ? 0 : unsigned(std::bit_width(value - 1));
    const size_t bucket = power <= first_ ? 0 : std::min<size_t>(power - first_, kBuckets - 1);
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }

  uint64_t sum() const { return sum_.load(std::memory_order_relaxed); }
  uint64_t count(size_t bucket) const { return counts_[bucket].load(std::memory_order_relaxed); }
  // Returns the largest value of a bucket. The last bucket has no bound.
  uint64_t bound(size_t bucket) const { return uint64_t{1} << (first_ + bucket); }

 private:
  const unsigned first_;
  std::array<std::atomic<uint64_t>, kBuckets> counts_ = {};
  std::atomic<uint64_t> sum_ = 0;
};

}  // namespace lanecrypt::service::daemon
