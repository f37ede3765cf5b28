// What feedback modes and ciphertext stealing need in every form.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/tiles.h"

// Which stream a thread takes in its turn `row`, where a thread takes a stream.
// Streams are sorted, the longest first. Warps of threads get neighbours, which
// end nearly together; thread blocks get warps in turn, there and back, so that no
// thread block has all that is long. This goes on until there is no such stream.
FN u32 block_stream(u32 row) {
  const u32 warps = thread_block_count() * (thread_block_size() / WARP_THREADS);
  const u32 turn = thread_id() / WARP_THREADS * thread_block_count() + thread_block_id();
  return (row * warps + (row % 2 == 0 ? turn : warps - 1 - turn)) * WARP_THREADS +
         thread_id() % WARP_THREADS;
}

// What is chained to a piece's first block.
FN Block block_chain_start(GLOBAL const CipherPiece *piece, GLOBAL const u32 *chain) {
  return piece->continues ? load_block((GLOBAL const u8 *)(chain + (u64)piece->chain * 4))
                          : block_iv(piece);
}

// The first `bytes` (1 to 16) of one block and the rest of another.
FN Block block_join(Block first, Block rest, u32 bytes) {
  UNROLL for (u32 i = 0; i < 4; ++i) {
    const u32 of_rest = bytes >= 4 * i + 4 ? 0u
                        : bytes <= 4 * i   ? ~0u
                                           : ~0u << (8 * (bytes - 4 * i));
    first.w[i] = (first.w[i] & ~of_rest) | (rest.w[i] & of_rest);
  }
  return first;
}

// Where the last two blocks of a message lie in its ciphertext, whose second
// one has `part` bytes of plaintext: X is the whole block, Y the part.
FN u32 block_stolen_x(GLOBAL const CipherPiece *piece) {
  return piece->swapped ? 0 : piece->tail_bytes - 16;
}
FN u32 block_stolen_y(GLOBAL const CipherPiece *piece) { return piece->swapped ? 16 : 0; }
