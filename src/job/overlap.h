// Finds what a job writes where it also reads, or writes, something else. Such a job would compute
// with bytes that it has overwritten itself, and authenticate them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "job/status.h"

namespace lanecrypt {

// Bytes of the caller's memory. Those of no bytes overlap nothing.
struct MemoryRange {
  MemoryRange() = default;
  // What would reach past the end of memory ends there.
  MemoryRange(const void *at, uint64_t bytes)
      : begin(reinterpret_cast<uintptr_t>(at)), end(begin + std::min(bytes, UINTPTR_MAX - begin)) {}

  bool empty() const { return begin >= end; }
  bool overlaps(const MemoryRange &other) const { return begin < other.end && other.begin < end; }

  uintptr_t begin = 0, end = 0;
};

// What is known of many ranges after one pass over them.
struct Extent {
  // In the order of the messages.
  void add(const MemoryRange &range) {
    if (range.empty()) return;
    ascends = ascends && range.begin >= last_end;
    last_end = range.end;
    all.begin = std::min(all.begin, range.begin);
    all.end = std::max(all.end, range.end);
  }
  // Of the messages that follow.
  void add(const Extent &later) {
    if (later.empty()) return;
    ascends = ascends && later.ascends && later.all.begin >= last_end;
    last_end = later.last_end;
    all.begin = std::min(all.begin, later.all.begin);
    all.end = std::max(all.end, later.all.end);
  }
  bool empty() const { return all.empty(); }
  bool overlaps(const Extent &other) const {
    return !empty() && !other.empty() && all.overlaps(other.all);
  }

  MemoryRange all = at_end();  // from the first byte of any to the last byte of any
  uintptr_t last_end = 0;      // of the last range
  bool ascends = true;         // each begins where the one before ends, or behind that

 private:
  static MemoryRange at_end() {
    MemoryRange range;
    range.begin = UINTPTR_MAX;
    return range;
  }
};

// Ranges that lie `stride` bytes apart from each other, each within `length` bytes from `phase`
// on, modulo `stride`. A stride of 0: they follow no such rule.
struct Period {
  // Whether ranges of both can overlap nowhere. False if that is not known.
  bool is_apart_from(const Period &other) const {
    if (stride == 0 || stride != other.stride) return false;
    const uint64_t distance = (other.phase % stride + stride - phase % stride) % stride;
    return distance >= length && other.length <= stride - distance;
  }

  uintptr_t phase = 0;
  uint64_t stride = 0, length = 0;
};

// All that a job reads and writes, by kind. The functions that it is given must stay valid until
// check() returns.
class Overlaps {
 public:
  // MemoryRange `n` of a kind. It must give the same each time.
  using At = std::function<MemoryRange(size_t n)>;
  // The number that the caller of the library knows of message `n`.
  using NumberOf = std::function<size_t(size_t n)>;

  explicit Overlaps(NumberOf number_of = nullptr) : number_of_(std::move(number_of)) {}

  // Adds ranges that are read, or written, one for each message. `what` is the name of one of them
  // for a person, such as "input". `extent`, if the caller has it, is that of all of them.
  void reads(const char *what, size_t count, At at, const Extent *extent = nullptr,
             Period period = {}) {
    add(what, false, count, std::move(at), extent, period);
  }
  void writes(const char *what, size_t count, At at, const Extent *extent = nullptr,
              Period period = {}) {
    add(what, true, count, std::move(at), extent, period);
  }
  // One range for the whole job, such as "the verdicts".
  void reads_all(const char *what, const MemoryRange &range) { add_one(what, false, range); }
  void writes_all(const char *what, const MemoryRange &range) { add_one(what, true, range); }

  // Says which two overlap. It is done at once if the ranges of each kind ascend and the kinds lie
  // apart, by their extents or their periods. Otherwise both are sorted by their addresses.
  Status check();

 private:
  struct Kind {
    const char *what;
    bool is_written, is_one;
    size_t count;
    At at;
    Extent extent;
    Period period;
  };
  struct Entry {
    MemoryRange range;
    uint32_t number;
  };
  class Sorted;

  void add(const char *what, bool is_written, size_t count, At at, const Extent *extent,
           Period period);
  void add_one(const char *what, bool is_written, const MemoryRange &range);
  std::string name(const Kind &kind, size_t n) const;
  Status overlap(const Kind &one, size_t n, const Kind &other, size_t m) const;

  NumberOf number_of_;
  std::vector<Kind> kinds_;
};

}  // namespace lanecrypt
