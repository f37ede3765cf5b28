// Pieces as fragments take them. A fragment writes to its own pixel and not to an address, so each
// pass gathers the blocks of the pieces side by side, computes them, and copies the results to
// where they belong, byte by byte.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/block/layout.h"

namespace lanecrypt::bench::gl2007 {

// Bytes that go from one buffer to another.
struct Run {
  uint64_t from, to, bytes;
};

// A piece in a pass, as shaders/fragment.glsl reads it.
struct PassPiece {
  uint32_t first_block;  // in the pass
  uint32_t number;       // CTR: of its first block in the message
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
  // What one pass has at most: drivers end work that runs for long.
  static constexpr uint32_t kMostBlocks = 1 << 20, kMostPieces = 1 << 14;

  // most_blocks: of a pass, if textures hold fewer than kMostBlocks.
  // one_key: a pass ends where the key changes.
  PiecePasses(std::span<const CipherPiece> pieces, uint64_t most_blocks, bool one_key)
      : pieces_(pieces),
        most_blocks_(static_cast<uint32_t>(std::min<uint64_t>(most_blocks, kMostBlocks))),
        one_key_(one_key) {}
  // Replaces `pass` by the next; false at the end.
  bool next(Pass &pass);

 private:
  void add(Pass &pass, const CipherPiece &piece, uint64_t blocks);

  std::span<const CipherPiece> pieces_;
  uint32_t most_blocks_;
  bool one_key_;
  size_t at_ = 0;       // the piece
  uint64_t begun_ = 0;  // blocks of it that are in passes
};

}  // namespace lanecrypt::bench::gl2007
