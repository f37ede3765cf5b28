// How a launch that is parallel in blocks is cut into tiles, and a large one
// into a part for table thread blocks and one for bitsliced thread blocks beside them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "job/cipher/cipher_job.h"
#include "kernels/block/layout.h"

namespace lanecrypt::runtime {

// How the kernels compute a block cipher; each is right on every device that can run it.
enum class BlockForm { kTable4, kTable1, kBitslice };

// How many thread blocks of how many threads a launch has at most; 0: what suits the device.
struct BlockGrid {
  uint32_t thread_blocks = 0, threads = 0;
};

// The pieces that one kernel takes.
struct BlockPart {
  BlockForm form;
  uint32_t first_piece, pieces;
  uint32_t rows;  // CTR: of a window
  uint64_t tiles;
};

// What of a device counts here.
struct BlockWarps {
  uint32_t threads;     // of a warp
  uint64_t count;       // of warps that run at once, in the launch's form
  uint64_t concurrent;  // of bitsliced warps that run beside them; 0: none can
  double share;         // of a large piece, what those take meanwhile
};

// Cuts the pieces of a launch, and counts their tiles into `first_tile`. Where
// one large piece is the launch, its end becomes a piece of its own.
std::vector<BlockPart> cut_into_parts(const CipherKind &kind, BlockForm form,
                                      const BlockWarps &warps, std::vector<CipherPiece> &pieces);

// XTS: whether most of the time would go to slots that kernels for whole blocks do one by one,
// since data units end in a part of a block. warp_threads: of a warp.
bool have_partial_units(std::span<const CipherPiece> pieces, uint32_t warp_threads);

// Pieces that are alike but for where they lie and for their IVs, whose counters begin alike.
struct AlikePieces {
  CipherPiece piece = {};  // one of them
  uint64_t count = 0;
  // The tiles of one of them, in the launch's form and bitsliced; parts_of_alike() sets both.
  uint64_t tiles = 0, concurrent_tiles = 0;
};

// The parts of pieces that the device lists by itself, a first one, any number between, and a last
// one. They are not cut, but bitsliced warps may take the last of them.
std::vector<BlockPart> parts_of_alike(const CipherKind &kind, BlockForm form,
                                      const BlockWarps &warps, std::span<AlikePieces, 3> alike);

}  // namespace lanecrypt::runtime
