// The blocks that a thread of a bitsliced warp takes of a text: where they are, and how they are
// read and written.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/bitslice/planes.h"

#define BLOCK_MODE_ECB 0
#define BLOCK_MODE_CBC_DECRYPT 1
#define BLOCK_MODE_CTR 2
#define BLOCK_MODE_ECB_UNALIGNED 3  // of texts at any address

// A thread's blocks: those numbered number, number + step, ... in their piece. A
// number before 0 is a very large one, and like those behind the end no block.
typedef struct BlocksOfThread {
  u64 number;
  u32 step;
  u64 length;   // of the piece, in bytes
  u32 aligned;  // 16-byte accesses are possible, of whatever blocks of memory
} BlocksOfThread;

// Whether the warp's 32 * WARP_THREADS blocks are all there, to their last byte,
// and can be read 16 bytes at a time.
FN u32 block_are_whole(const BlocksOfThread *thread) {
  const u64 first = thread->number - thread_id() % WARP_THREADS;
  return thread->aligned && first < thread->length &&
         16 * (first + 31 * thread->step + WARP_THREADS) <= thread->length;
}

// Whether any thread of the warp has a block.
FN u32 block_has_any(const BlocksOfThread *thread) {
  return 16 * (thread->number - thread_id() % WARP_THREADS) < thread->length;
}

// Where block k is not a constant, the state goes round once.
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

// `mode` is a constant; `in` is what the mode adds to the blocks, if anything.
FN void slice_store(GLOBAL u8 *out, u32 *state, GLOBAL const u8 *in, const BlocksOfThread *thread,
                    u32 mode, GLOBAL const CipherPiece *piece) {
  const u32 has_iv = mode == BLOCK_MODE_CBC_DECRYPT && !piece->continues;
  if (block_are_whole(thread) && !(has_iv && thread->number < WARP_THREADS)) {
    // Reads by eights, or each would wait for the write before it.
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
