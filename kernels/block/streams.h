// What chained modes and ciphertext stealing need in every form.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/tiles.h"

// Returns the index of the stream that this thread processes in its turn `row`, in kernels in which
// a thread processes one stream at a time. Streams are sorted, the longest first. The threads of a
// warp get neighbouring streams, which end at nearly the same time. Warps of all thread blocks get
// groups of streams alternately from the front and the back, so that no thread block gets only long
// ones. An index that is not below the number of streams ends the loop.
FN u32 block_stream(u32 row) {
  const u32 warps = thread_block_count() * (thread_block_size() / WARP_THREADS);
  const u32 turn = thread_id() / WARP_THREADS * thread_block_count() + thread_block_id();
  return (row * warps + (row % 2 == 0 ? turn : warps - 1 - turn)) * WARP_THREADS +
         thread_id() % WARP_THREADS;
}

// Returns what is chained to a piece's first block: its chain value or its IV.
FN Block block_chain_start(GLOBAL const CipherPiece *piece, GLOBAL const u32 *chain) {
  return piece->continues ? load_block((GLOBAL const u8 *)(chain + (u64)piece->chain * 4))
                          : block_iv(piece);
}

// Returns the first `bytes` (1 to 16) of `first`, followed by the rest of `rest`.
FN Block block_join(Block first, Block rest, u32 bytes) {
  UNROLL for (u32 i = 0; i < 4; ++i) {
    const u32 of_rest = bytes >= 4 * i + 4 ? 0u
                        : bytes <= 4 * i   ? ~0u
                                           : ~0u << (8 * (bytes - 4 * i));
    first.w[i] = (first.w[i] & ~of_rest) | (rest.w[i] & of_rest);
  }
  return first;
}

// Return the offsets of a stolen tail's two parts in the ciphertext: X is the whole block, Y is the
// part (SP 800-38A Addendum; `swapped` is the order of CBC-CS3).
FN u32 block_stolen_x(GLOBAL const CipherPiece *piece) {
  return piece->swapped ? 0 : piece->tail_bytes - 16;
}
FN u32 block_stolen_y(GLOBAL const CipherPiece *piece) { return piece->swapped ? 16 : 0; }
