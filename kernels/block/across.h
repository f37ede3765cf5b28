// Texts at addresses that are no multiples of 16, for warps, whose lanes have blocks side by side.
// A lane reads and writes the blocks of memory in which its own begin, and has the rest of them
// from the lane beside it. So no byte is asked for twice, and what is written is whole, but for the
// two ends.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/tiles.h"

#ifdef HAS_WORD_OF_LANE

// How many bytes behind a multiple of 16 an address lies. It is the same for all lanes.
FN u32 across_skew(GLOBAL const u8 *at) { return (u32)(u64)at & 15; }

// `count` words of those from `words` on, from the byte `from` on, at most 16; one word more than
// these must be there. All lanes shift alike, so they branch alike, and a register is named instead
// of chosen.
#define ACROSS_SHIFT_WORDS(to, words, first, count, bits) \
  UNROLL for (u32 i = 0; i < (count); ++i)(to)[i] =       \
      JOIN_SHIFTED((words)[(first) + i], (words)[(first) + i + 1], bits)
#define ACROSS_SHIFT(to, words, count, from)           \
  do {                                                 \
    const u32 bits = 8 * ((from) % 4);                 \
    switch ((from) / 4) {                              \
      case 0:                                          \
        ACROSS_SHIFT_WORDS(to, words, 0, count, bits); \
        break;                                         \
      case 1:                                          \
        ACROSS_SHIFT_WORDS(to, words, 1, count, bits); \
        break;                                         \
      case 2:                                          \
        ACROSS_SHIFT_WORDS(to, words, 2, count, bits); \
        break;                                         \
      case 3:                                          \
        ACROSS_SHIFT_WORDS(to, words, 3, count, bits); \
        break;                                         \
      default:                                         \
        ACROSS_SHIFT_WORDS(to, words, 4, count, bits); \
    }                                                  \
  } while (0)

// The block that begins `from` bytes behind the first one's beginning, 16 at most.
FN Block across_join(Block first, Block second, u32 from) {
  u32 words[9];
  Block joined;
  UNROLL for (u32 w = 0; w < 4; ++w) {
    words[w] = first.w[w];
    words[4 + w] = second.w[w];
  }
  words[8] = 0;
  ACROSS_SHIFT(joined.w, words, 4, from);
  return joined;
}

FN Block across_block_of(u32 lane, Block mine, SHARED u32 *scratch) {
  Block theirs;
  UNROLL for (u32 w = 0; w < 4; ++w) theirs.w[w] = word_of_lane(mine.w[w], lane % 32, scratch);
  return theirs;
}

// x[n] of each lane: the blocks of a warp lie side by side for each n, and for the next n behind
// them. from: this lane's first.
FN void across_load(Block *x, u32 count, GLOBAL const u8 *from, SHARED u32 *scratch) {
  const u32 lane = lane_id() % 32, skew = across_skew(from);
  Block behind = {{0, 0, 0, 0}};
  UNROLL for (u32 n = 0; n < count; ++n) x[n] = load_block(from - skew + 512 * n);
  if (lane == 31 && skew != 0) behind = load_block(from - skew + 512 * (count - 1) + 16);
  UNROLL for (u32 n = 0; n < count; ++n) {
    const u32 i = count - 1 - n;
    const Block beside = across_block_of(lane + 1, x[i], scratch);
    Block next = behind;
    if (lane != 31) next = beside;
    behind = beside;
    x[i] = across_join(x[i], next, skew);
  }
}

FN void across_store(GLOBAL u8 *to, const Block *x, u32 count, SHARED u32 *scratch) {
  const u32 lane = lane_id() % 32, skew = across_skew(to);
  const Block zero = {{0, 0, 0, 0}};
  Block before = zero;
  UNROLL for (u32 n = 0; n < count; ++n) {
    const Block beside = across_block_of(lane + 31, x[n], scratch);
    Block last = before;
    if (lane != 0) last = beside;
    before = beside;
    // The first bytes of the first block, and the last ones of the last, are not these lanes'.
    if (n == 0 && lane == 0)
      block_store_bytes(to, x[0], 16 - skew);
    else
      store_block(to - skew + 512 * n, across_join(last, x[n], 16 - skew));
  }
  if (lane == 31 && skew != 0)
    block_store_bytes(to - skew + 512 * (count - 1) + 16,
                      across_join(x[count - 1], zero, 16 - skew), skew);
}

#endif
