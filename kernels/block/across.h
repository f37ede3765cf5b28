// Texts at addresses that are no multiples of 16, for warps, whose lanes have blocks side by side.
// A lane reads or writes the blocks of memory in which its own begin, and has the rest of them
// from the lane beside it.
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

// The 16 bytes at any address, in memory that has some of them and all between these.
FN Block across_load_at(GLOBAL const u8 *from) {
  const u32 skew = across_skew(from);
  const Block first = load_block(from - skew);
  Block second = first;
  if (skew != 0) second = load_block(from - skew + 16);
  return across_join(first, second, skew);
}

// Bytes `from` to `end` of a block, which lies at a multiple of 16.
FN void across_store_bytes(GLOBAL u8 *to, Block b, u32 from, u32 end) {
  UNROLL for (u32 w = 0; w < 4; ++w) {
    if (from <= 4 * w && end >= 4 * w + 4) {
      *(GLOBAL u32 *)(to + 4 * w) = b.w[w];
    } else {
      UNROLL for (u32 i = 4 * w; i < 4 * w + 4; ++i) {
        if (i >= from && i < end) to[i] = (u8)(b.w[w] >> (8 * (i % 4)));
      }
    }
  }
}

// XORs `count` blocks of each lane with a text of `length` bytes: a lane's block n begins at byte
// 16 * (number + 32 * n) of the text, if it lies there at all. The keystream moves between the
// lanes, and so a lane writes the blocks of memory in which its own begin; lane 0 also the one in
// which the last lane's block ends. What two warps have bytes of is not written as a whole. All
// lanes move it, also where there is no text: behind a branch that some might not take, a compiler
// would give each look-up of the cipher an address of its own.
FN void across_xor(GLOBAL u8 *out, GLOBAL const u8 *in, const Block *blocks, u32 count, u64 number,
                   u64 length, SHARED u32 *scratch) {
  const u32 lane = lane_id() % 32, skew = across_skew(out);
  Block before = {{0, 0, 0, 0}};
  UNROLL for (u32 n = 0; n <= count; ++n) {
    Block last = before, own = before;
    if (n < count) {
      own = blocks[n];
      before = across_block_of(lane + 31, own, scratch);
      if (lane != 0) last = before;
    }
    const Block moved = across_join(last, own, 16 - skew);
    // Before the text begins, and in other rows' tiles, this wraps around.
    const u64 at = 16 * (number + 32 * n) - skew;
    const u32 from = n == 0 && lane == 0 ? skew : 0;
    const u32 end = n < count ? 16 : lane == 0 ? skew : 0;
    if (at < length && length - at >= 16) {
      if (end != 0) {
        const Block x = block_xor(moved, across_load_at(in + at));
        if (end - from == 16)
          store_block(out + at, x);
        else
          across_store_bytes(out + at, x, from, end);
      }
    } else {
      UNROLL for (u32 i = 0; i < 16; ++i) {
        if (i >= from && i < end && at + i < length)
          out[at + i] = (u8)(in[at + i] ^ moved.w[i / 4] >> (8 * (i % 4)));
      }
    }
  }
}

#endif
