// Chooses what the CPU computes again of a chunk, and compares it with the output.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "verify/random_sampler.h"
#include "verify/sample.h"
#include "work/chunk.h"

namespace lanecrypt::runtime {

// The check of one chunk, as far as its input is in host memory. It keeps the input that it needs,
// since output in place overwrites that.
class OutputCheck {
 public:
  static constexpr size_t kMostSamples = 4;
  // The most bytes of output before a sample, and those with the sample.
  static constexpr uint64_t kBeforeBytes = kBlockBytes;
  static constexpr uint64_t kMostBytes = kBeforeBytes + kChaChaBlockBytes;

  struct Entry {
    size_t piece;  // its number in the chunk
    uint64_t at;   // where the sample is in the chunk
    verify::Sample sample;
    // The range of output that it needs.
    uint64_t from() const { return at - before(); }
    uint64_t bytes() const { return before() + sample.length; }
    uint64_t before() const { return sample.offset == 0 ? 0 : kBeforeBytes; }
  };

  OutputCheck() { entries_.reserve(kMostSamples); }
  ~OutputCheck() { clear(); }
  // Wipes what it kept, since the input may be secret.
  void clear();
  // `places`: where the text of each piece begins in the chunk, of `bytes` bytes.
  void choose(const std::vector<ChunkPiece> &pieces, const std::vector<uint64_t> &places,
              uint64_t bytes, verify::RandomSampler &sampler);
  const std::vector<Entry> &entries() const { return entries_; }

  // LC_ERROR_DEVICE if a sample is wrong. read(n, to) must give the output of entries()[n],
  // from from() on.
  using Read = std::function<void(size_t n, uint8_t *to)>;
  Status compare(const std::vector<ChunkPiece> &pieces, const Read &read) const;

 private:
  std::vector<Entry> entries_;
};

// Checks all of a piece. out: its output. sum: in authenticated modes the device's sum. In CCM
// the MAC is not checked.
Status check_whole(const ChunkPiece &part, const uint8_t *out, const cpu::AeadSum *sum);

}  // namespace lanecrypt::runtime
