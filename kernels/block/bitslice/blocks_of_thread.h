// The blocks of a text that a thread of a bitsliced warp processes: their positions, and how they
// are loaded and stored.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/bitslice/planes.h"

#define BLOCK_MODE_ECB 0
#define BLOCK_MODE_CBC_DECRYPT 1
#define BLOCK_MODE_CTR 2
#define BLOCK_MODE_ECB_UNALIGNED 3  // ECB of unaligned texts

// A thread's blocks have the numbers number, number + step, ... in their piece. A negative number
// wraps to a very large one; such blocks, like those after the end, do not exist.
typedef struct BlocksOfThread {
  u64 number;
  u32 step;
  u64 length;   // of the piece, in bytes
  u32 aligned;  // 16-byte accesses are possible; for unaligned kernels, to memory blocks
} BlocksOfThread;

// Whether all 32 * WARP_THREADS blocks of the warp are complete and can be read 16 bytes at a time.
FN u32 block_are_whole(const BlocksOfThread *thread) {
  const u64 first = thread->number - thread_id() % WARP_THREADS;
  return thread->aligned && first < thread->length &&
         16 * (first + 31 * thread->step + WARP_THREADS) <= thread->length;
}

// Whether any thread of the warp has a block.
FN u32 block_has_any(const BlocksOfThread *thread) {
  return 16 * (thread->number - thread_id() % WARP_THREADS) < thread->length;
}

// Rotates the state by one block, so that a rolled loop reaches every block k at a constant index.
FN void block_turn(u32 *state) {
  UNROLL for (u32 c = 0; c < 4; ++c) {
    const u32 first = state[32 * c];
    UNROLL for (u32 k = 0; k < 31; ++k) state[32 * c + k] = state[32 * c + k + 1];
    state[32 * c + 31] = first;
  }
}

FN void slice_load(u32 *state, GLOBAL const u8 *in, const BlocksOfThread *thread) {
  if (block_are_whole(thread)) {
    UNROLL for (u32 k = 0; k < 32; ++k) {
      block_planes_set(state, k, load_block(in + 16 * (thread->number + k * thread->step)));
    }
  } else {
    ROLLED for (u32 k = 0; k < 32; ++k) {
      const u64 at = 16 * (thread->number + k * thread->step);
      Block b = {{0, 0, 0, 0}};
      if (at < thread->length) b = load_part(in + at, 16, thread->aligned);
      block_turn(state);
      block_planes_set(state, 31, b);
    }
  }
}

// Stores the blocks of the state. `mode` is a constant; `in` is the text that the mode XORs into
// the blocks, if any.
FN void slice_store(GLOBAL u8 *out, u32 *state, GLOBAL const u8 *in, const BlocksOfThread *thread,
                    u32 mode, GLOBAL const CipherPiece *piece) {
  const u32 has_iv = mode == BLOCK_MODE_CBC_DECRYPT && !piece->continues;
  if (block_are_whole(thread) && !(has_iv && thread->number < WARP_THREADS)) {
    // Reads eight at a time, otherwise each read would wait for the write before it.
    UNROLL for (u32 eight = 0; eight < 32; eight += 8) {
      Block more[8];
      UNROLL for (u32 k = 0; k < 8; ++k) {
        const u64 at = 16 * (thread->number + (eight + k) * thread->step);
        if (mode == BLOCK_MODE_CTR) more[k] = load_block(in + at);
        if (mode == BLOCK_MODE_CBC_DECRYPT) more[k] = load_block(in + at - 16);
      }
      UNROLL for (u32 k = 0; k < 8; ++k) {
        Block b = block_planes_get(state, eight + k);
        if (mode != BLOCK_MODE_ECB) b = block_xor(b, more[k]);
        store_block(out + 16 * (thread->number + (eight + k) * thread->step), b);
      }
    }
  } else {
    ROLLED for (u32 k = 0; k < 32; ++k) {
      const u64 number = thread->number + k * thread->step, at = 16 * number;
      if (at < thread->length) {
        const u64 left = thread->length - at;
        Block b = block_planes_get(state, 0);
        if (mode == BLOCK_MODE_CTR) b = block_xor(b, load_part(in + at, left, thread->aligned));
        if (mode == BLOCK_MODE_CBC_DECRYPT)
          b = block_xor(b, has_iv && number == 0 ? block_iv(piece)
                                                 : load_part(in + at - 16, 16, thread->aligned));
        store_part(out + at, b, left, thread->aligned);
      }
      block_turn(state);
    }
  }
}
