// Finds memory that a job writes and also reads, or writes twice. Such a job would compute with
// bytes that it has overwritten itself, and authenticate them.
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

// `MemoryRange` is a range of the caller's memory. An empty range overlaps nothing.
struct MemoryRange {
  MemoryRange() = default;
  // A range that would extend past the end of memory is cut there.
  MemoryRange(const void *at, uint64_t bytes)
      : begin(reinterpret_cast<uintptr_t>(at)), end(begin + std::min(bytes, UINTPTR_MAX - begin)) {}

  bool empty() const { return begin >= end; }
  bool overlaps(const MemoryRange &other) const { return begin < other.end && other.begin < end; }

  uintptr_t begin = 0, end = 0;
};

// `Extent` summarises many ranges after one pass over them.
struct Extent {
  // Adds the range of the next message.
  void add(const MemoryRange &range) {
    if (range.empty()) return;
    ascends = ascends && range.begin >= last_end;
    last_end = range.end;
    all.begin = std::min(all.begin, range.begin);
    all.end = std::max(all.end, range.end);
  }
  // Adds the extent of the messages that follow.
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

  MemoryRange all = at_end();  // from the lowest to the highest address of all
  uintptr_t last_end = 0;      // the end of the last range
  bool ascends = true;         // each range begins at or after the end of the one before

 private:
  static MemoryRange at_end() {
    MemoryRange range;
    range.begin = UINTPTR_MAX;
    return range;
  }
};

// `Period` is ranges at a distance of `stride` bytes, each within `length` bytes from `phase` on,
// modulo `stride`. A stride of 0 means that they follow no such rule.
struct Period {
  // Returns whether ranges of both cannot overlap. False if that is not known.
  bool is_apart_from(const Period &other) const {
    if (stride == 0 || stride != other.stride) return false;
    const uint64_t distance = (other.phase % stride + stride - phase % stride) % stride;
    return distance >= length && other.length <= stride - distance;
  }

  uintptr_t phase = 0;
  uint64_t stride = 0, length = 0;
};

// `Overlaps` collects all that a job reads and writes, by kind. The functions that it is given must
// stay valid until check() returns.
class Overlaps {
 public:
  // Returns range `n` of a kind. It must return the same each time.
  using At = std::function<MemoryRange(size_t n)>;
  // Returns the number that the library's caller knows of message `n`.
  using NumberOf = std::function<size_t(size_t n)>;

  explicit Overlaps(NumberOf number_of = nullptr) : number_of_(std::move(number_of)) {}

  // Adds ranges that are read, or written, one for each message. `what` names one of them for
  // people, such as "input". `extent` is the extent of all of them, if the caller has it.
  void reads(const char *what, size_t count, At at, const Extent *extent = nullptr,
             Period period = {}) {
    add(what, false, count, std::move(at), extent, period);
  }
  void writes(const char *what, size_t count, At at, const Extent *extent = nullptr,
              Period period = {}) {
    add(what, true, count, std::move(at), extent, period);
  }
  // Adds one range of the whole job, such as "the verdicts".
  void reads_all(const char *what, const MemoryRange &range) { add_one(what, false, range); }
  void writes_all(const char *what, const MemoryRange &range) { add_one(what, true, range); }

  // Returns an error that names two overlapping ranges. The check is fast if the ranges of each
  // kind ascend and the kinds are apart, by their extents or periods. Otherwise both are sorted by
  // address.
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
