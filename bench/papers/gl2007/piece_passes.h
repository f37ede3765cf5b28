// Divides the pieces of a launch into passes for fragment shaders. A fragment writes to its own
// pixel and not to an address, so each pass gathers the blocks of its pieces into contiguous
// memory, computes them, and copies the results to their places at byte granularity.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/block/layout.h"

namespace lanecrypt::bench::gl2007 {

// A range of bytes to copy from one buffer to another.
struct Run {
  uint64_t from, to, bytes;
};

// A piece in a pass, in the layout that shaders/fragment.glsl reads.
struct PassPiece {
  uint32_t first_block;  // index in the pass
  uint32_t number;       // CTR: number of its first block in the message
  uint32_t key, unused;
  uint32_t iv[4];
};

struct Pass {
  std::vector<PassPiece> pieces;
  std::vector<Run> gather, scatter;  // to and from the pass's blocks, 16 bytes each
  uint32_t blocks = 0;
};

class PiecePasses {
 public:
  // The limits of a pass, because drivers kill work that runs for a long time.
  static constexpr uint32_t kMostBlocks = 1 << 20, kMostPieces = 1 << 14;

  // `most_blocks` limits the blocks of a pass further if textures hold fewer than kMostBlocks. If
  // `one_key` is set, a pass ends where the key changes.
  PiecePasses(std::span<const CipherPiece> pieces, uint64_t most_blocks, bool one_key)
      : pieces_(pieces),
        most_blocks_(static_cast<uint32_t>(std::min<uint64_t>(most_blocks, kMostBlocks))),
        one_key_(one_key) {}
  // Replaces `pass` by the next one. Returns false at the end.
  bool next(Pass &pass);

 private:
  void add(Pass &pass, const CipherPiece &piece, uint64_t blocks);

  std::span<const CipherPiece> pieces_;
  uint32_t most_blocks_;
  bool one_key_;
  size_t at_ = 0;       // index of the current piece
  uint64_t begun_ = 0;  // blocks of it that are already in passes
};

}  // namespace lanecrypt::bench::gl2007
