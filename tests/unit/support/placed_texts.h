// Texts at any address, for tests that call kernels directly by name. The tests compare every byte
// of the memory with OpenSSL's answer or with its earlier value.
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

// A range of memory: an offset and a length in bytes.
struct Span {
  uint64_t at, bytes;
};

// The content that a range of memory must have later: its present content, except where answers are
// expected.
class ExpectedSpan {
 public:
  ExpectedSpan(const uint8_t *memory, const Span &span)
      : memory_(memory), at_(span.at), bytes_(memory + span.at, memory + span.at + span.bytes) {}

  // Expects `answer` at offset `at`. An answer outside this span is ignored.
  void expect(uint64_t at, const Bytes &answer) {
    if (at >= at_ && at < at_ + bytes_.size())
      std::copy(answer.begin(), answer.end(), bytes_.begin() + (at - at_));
  }
  // Returns the offset of the first byte that differs from what is expected, or nothing.
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

// Returns the text whose output contains the byte at `at`, or else the nearest one before it.
// `texts` must be sorted by output.
template <typename Placed>
const Placed &nearest_text(const std::vector<Placed> &texts, uint64_t at) {
  const Placed *nearest = &texts.front();
  for (const Placed &text : texts)
    if (text.out <= at + 16) nearest = &text;
  return *nearest;
}

// Random bytes in memory that begins at a multiple of 16.
class RandomMemory {
 public:
  RandomMemory(Random &random, uint64_t bytes) : room_(bytes + 16) { random.fill(get(), bytes); }

  uint8_t *get() { return room_.data() + (-reinterpret_cast<uintptr_t>(room_.data()) & 15); }

 private:
  Bytes room_;
};

// Makes `piece` an XTS message of data units of `unit` bytes. Its points begin at *points, which
// advances by their number.
inline void set_data_units(CipherPiece &piece, uint64_t unit, uint32_t *points) {
  piece.unit_bytes = static_cast<uint32_t>(unit);
  piece.slots = piece.length / unit * (unit / 16) + piece.length % unit / 16;
  piece.first_point = *points;
  *points +=
      static_cast<uint32_t>(divide_up(piece.slots, unit / 16) * divide_up(unit / 16, XTS_STRETCH));
}

// Two accessible pages, each between inaccessible ones. A read or write out of bounds ends the
// process.
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
  // first() and second() return the offsets of the two pages in memory().
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
