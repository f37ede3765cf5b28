// Texts that lie anywhere in memory, for tests that call kernels by their names: every byte of the
// memory is to be what OpenSSL makes of it, or what it was.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "launch/block_parts.h"
#include "unit/support/random_bytes.h"
#include "unit/support/reference.h"

namespace lanecrypt::test {

// A part of memory.
struct Span {
  uint64_t at, bytes;
};

// What a part of memory is to have later: what it has now, but for the answers.
class ExpectedSpan {
 public:
  ExpectedSpan(const uint8_t *memory, const Span &span)
      : memory_(memory), at_(span.at), bytes_(memory + span.at, memory + span.at + span.bytes) {}

  // `answer` lies at `at`, in this span or in another.
  void expect(uint64_t at, const Bytes &answer) {
    if (at >= at_ && at < at_ + bytes_.size())
      std::copy(answer.begin(), answer.end(), bytes_.begin() + (at - at_));
  }
  // Where the memory has something else now.
  std::optional<uint64_t> first_difference() const {
    const auto differs = std::mismatch(bytes_.begin(), bytes_.end(), memory_ + at_).first;
    if (differs == bytes_.end()) return std::nullopt;
    return at_ + static_cast<uint64_t>(differs - bytes_.begin());
  }

 private:
  const uint8_t *memory_;
  uint64_t at_;
  Bytes bytes_;
};

// Of texts in the order of their outputs, the one that the byte at `at` is of, or behind.
template <typename Placed>
const Placed &nearest_text(const std::vector<Placed> &texts, uint64_t at) {
  const Placed *nearest = &texts.front();
  for (const Placed &text : texts)
    if (text.out <= at + 16) nearest = &text;
  return *nearest;
}

// Memory of random bytes that begins at a multiple of 16.
class RandomMemory {
 public:
  RandomMemory(Random &random, uint64_t bytes) : room_(bytes + 16) { random.fill(get(), bytes); }

  uint8_t *get() { return room_.data() + (-reinterpret_cast<uintptr_t>(room_.data()) & 15); }

 private:
  Bytes room_;
};

// XTS: makes a message one of data units of `unit` bytes, with points from *points on, which become
// as many more.
inline void set_data_units(CipherPiece &piece, uint64_t unit, uint32_t *points) {
  piece.unit_bytes = static_cast<uint32_t>(unit);
  piece.slots = piece.length / unit * (unit / 16) + piece.length % unit / 16;
  piece.first_point = *points;
  *points +=
      static_cast<uint32_t>(divide_up(piece.slots, unit / 16) * divide_up(unit / 16, XTS_STRETCH));
}

// Two pages of memory, with nothing before and behind each: who reads or writes there dies.
class LonePages {
 public:
  LonePages()
      : page_(static_cast<uint64_t>(sysconf(_SC_PAGESIZE))),
        mapped_(mmap(nullptr, 5 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
        spans_{{page_, page_}, {3 * page_, page_}} {
    EXPECT_NE(MAP_FAILED, mapped_);
    for (const Span &span : spans_)
      EXPECT_EQ(0, mprotect(memory() + span.at, span.bytes, PROT_READ | PROT_WRITE));
  }
  ~LonePages() { munmap(mapped_, 5 * page_); }
  LonePages(const LonePages &) = delete;

  uint64_t page_bytes() const { return page_; }
  uint8_t *memory() const { return static_cast<uint8_t *>(mapped_); }
  const std::vector<Span> &spans() const { return spans_; }
  // Where they begin in memory().
  uint64_t first() const { return spans_[0].at; }
  uint64_t second() const { return spans_[1].at; }
  void fill(Random &random) const {
    for (const Span &span : spans_) random.fill(memory() + span.at, span.bytes);
  }

 private:
  const uint64_t page_;
  void *const mapped_;
  const std::vector<Span> spans_;
};

}  // namespace lanecrypt::test
