// What of a chunk is computed again on the CPU when it comes back.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "verify/dice.h"
#include "verify/sample.h"
#include "work/chunk.h"

namespace lanecrypt::schedule {

// One chunk's. It keeps the input it needs, which output in place overwrites.
class OutputCheck {
 public:
  static constexpr size_t kMostSamples = 4;
  // Bytes of output before a sample, and with it.
  static constexpr uint64_t kBeforeBytes = kBlockBytes;
  static constexpr uint64_t kMostBytes = kBeforeBytes + kChaChaBlockBytes;

  struct Entry {
    size_t piece;  // of the chunk
    uint64_t at;   // the sample, in the chunk
    verify::Sample sample;
    // Of the output that it takes.
    uint64_t from() const { return at - before(); }
    uint64_t bytes() const { return before() + sample.length; }
    uint64_t before() const { return sample.offset == 0 ? 0 : kBeforeBytes; }
  };

  OutputCheck() { entries_.reserve(kMostSamples); }
  ~OutputCheck() { clear(); }
  // Wipes: the input may be secret.
  void clear();
  // `places`: where the text of each piece begins in the chunk, of `bytes` bytes.
  void choose(const std::vector<ChunkPiece> &pieces, const std::vector<uint64_t> &places,
              uint64_t bytes, verify::Dice &dice);
  const std::vector<Entry> &entries() const { return entries_; }

  // LC_ERROR_DEVICE where one is wrong. read(n, to) gives the output of
  // entries()[n], from from() on.
  using Read = std::function<void(size_t n, uint8_t *to)>;
  Status compare(const std::vector<ChunkPiece> &pieces, const Read &read) const;

 private:
  std::vector<Entry> entries_;
};

// All of a piece. out: where its output lies; sum: of authenticated modes, what
// the device made of it, but for CCM, whose MAC is not looked at.
Status check_whole(const ChunkPiece &part, const uint8_t *out, const cpu::AeadSum *sum);

}  // namespace lanecrypt::schedule
