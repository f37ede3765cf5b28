// Loads and stores unaligned texts of ChaCha20 by warps, 64 bytes per thread: see
// block/unaligned.h. `last` is the last thread that has bytes: 31, or less where a text ends.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chacha20.h"
#include "kernels/block/unaligned.h"

#ifdef HAS_WARP_SHUFFLE

// Loads the memory blocks in which each thread's 64 bytes begin and, in the last thread, the one in
// which they end.
FN void chacha20_fetch_unaligned(Block *data, GLOBAL const u8 *in, u32 last) {
  const u32 thread = thread_id() % 32, skew = unaligned_skew(in);
  UNROLL for (u32 i = 0; i < 4; ++i) {
    const Block zero = {{0, 0, 0, 0}};
    data[i] = zero;
    if (thread <= last) data[i] = load_block(in - skew + 16 * i);
  }
  data[4] = data[3];
  if (thread == last && skew != 0) data[4] = load_block(in - skew + 64);
}

// Joins the memory blocks of chacha20_fetch_unaligned() to the thread's 64 bytes. If this is called
// long after the fetch, it does not wait for memory.
FN void chacha20_take_unaligned(Block *data, GLOBAL const u8 *in, u32 last, SHARED u32 *scratch) {
  const u32 thread = thread_id() % 32;
  u32 words[21], moved[16];
  UNROLL for (u32 i = 0; i < 16; ++i) words[i] = data[i / 4].w[i % 4];
  UNROLL for (u32 w = 0; w < 4; ++w) {
    const u32 neighbour = warp_shuffle(words[w], (thread + 1) % 32, scratch);
    words[16 + w] = thread == last ? data[4].w[w] : neighbour;
  }
  words[20] = 0;
  unaligned_move(moved, words, 16, unaligned_skew(in));
  UNROLL for (u32 i = 0; i < 16; ++i) data[i / 4].w[i % 4] = moved[i];
}

// Shifts each thread's 64 bytes to the memory blocks in which they begin; `skew` is their offset
// there. `before` is the block before thread 0's bytes, known to thread 0; the function replaces it
// by the last thread's last block.
FN void chacha20_move_unaligned(Block *moved, const Block *data, Block *before, u32 skew, u32 last,
                                SHARED u32 *scratch) {
  const u32 thread = thread_id() % 32;
  u32 words[21], parts[16];
  UNROLL for (u32 w = 0; w < 4; ++w) {
    const u32 neighbour = warp_shuffle(data[3].w[w], thread == 0 ? last : thread - 1, scratch);
    words[w] = thread == 0 ? before->w[w] : neighbour;
    before->w[w] = neighbour;
  }
  UNROLL for (u32 i = 0; i < 16; ++i) words[4 + i] = data[i / 4].w[i % 4];
  words[20] = 0;
  unaligned_move(parts, words, 16, 16 - skew);
  UNROLL for (u32 i = 0; i < 16; ++i) moved[i / 4].w[i % 4] = parts[i];
}

// What a warp keeps from one store to the next: the last block, which the last thread has stored
// only in part (known only to thread 0), and whether anything was stored.
typedef struct UnalignedStore {
  Block last;
  u32 has_begun;
} UnalignedStore;

FN UnalignedStore unaligned_begin(void) {
  UnalignedStore before = {{{0, 0, 0, 0}}, 0};
  return before;
}

FN void chacha20_store_unaligned(GLOBAL u8 *out, const Block *data, UnalignedStore *before,
                                 u32 last, SHARED u32 *scratch) {
  const u32 thread = thread_id() % 32, skew = unaligned_skew(out);
  Block parts[4];
  chacha20_move_unaligned(parts, data, &before->last, skew, last, scratch);
  if (thread <= last) {
    // The first bytes of the first memory block do not belong to this text.
    if (thread == 0 && !before->has_begun)
      block_store_bytes(out, data[0], 16 - skew);
    else
      store_block(out - skew, parts[0]);
    UNROLL for (u32 i = 1; i < 4; ++i) store_block(out - skew + 16 * i, parts[i]);
  }
  before->has_begun = 1;
}

// Stores the bytes that are left. `end` is the address after the last byte.
FN void unaligned_end(GLOBAL u8 *end, const UnalignedStore *before) {
  const u32 skew = unaligned_skew(end);
  if (thread_id() % 32 != 0 || !before->has_begun || skew == 0) return;
  const Block zero = {{0, 0, 0, 0}};
  block_store_bytes(end - skew, unaligned_join(before->last, zero, 16 - skew), skew);
}

#endif
