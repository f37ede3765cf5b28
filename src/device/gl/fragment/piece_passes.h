// Pieces as fragments take them: fragments write to a place of their own and not
// to an address, so each pass gathers the pieces' blocks side by side, computes
// them, and copies the results to where they belong, byte by byte.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/block/layout.h"

namespace lanecrypt::device::gl {

// Bytes that go from one buffer to another.
struct Run {
  uint64_t from, to, bytes;
};

// A piece in a pass, as shaders/fragment.glsl reads it.
struct PassPiece {
  uint32_t first_block;  // of the pass
  uint32_t slot;         // of its first block among the gathered blocks
  uint32_t number;       // CTR: of its first block in the message. CBC: 1 where
                         // the ciphertext before is in the slot before
  uint32_t key;
  uint32_t iv[4];
};

struct Pass {
  std::vector<PassPiece> pieces;
  std::vector<Run> gather, scatter;  // to and from the pass's blocks, 16 bytes each
  uint32_t slots = 0, blocks = 0;
};

class PiecePasses {
 public:
  // What one pass has at most: drivers end work that runs for long.
  static constexpr uint32_t kMostSlots = 1 << 20, kMostPieces = 1 << 14;

  // most_blocks: of a pass, where textures end before kMostSlots; at least 2.
  // needs_before: blocks need the block of input before them (CBC decryption).
  // one_key: a pass ends where the key changes.
  PiecePasses(std::span<const CipherPiece> pieces, uint64_t most_blocks, bool needs_before,
              bool one_key)
      : pieces_(pieces),
        most_slots_(static_cast<uint32_t>(std::min<uint64_t>(most_blocks, kMostSlots))),
        needs_before_(needs_before),
        one_key_(one_key) {}
  // Replaces `pass` by the next; false at the end.
  bool next(Pass &pass);

 private:
  void add(Pass &pass, const CipherPiece &piece, uint64_t blocks);

  std::span<const CipherPiece> pieces_;
  uint32_t most_slots_;
  bool needs_before_, one_key_;
  size_t at_ = 0;       // the piece
  uint64_t begun_ = 0;  // blocks of it that are in passes
};

}  // namespace lanecrypt::device::gl
