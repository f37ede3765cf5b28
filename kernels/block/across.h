// Texts at addresses that are no multiples of 16, for warps, whose lanes have blocks side by side.
// A lane reads or writes the blocks of memory in which its own begin, and has the rest of them
// from the lane beside it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/tiles.h"

// How many bytes behind a multiple of 16 an address lies. It is the same for all lanes.
FN u32 across_skew(GLOBAL const u8 *at) { return (u32)(u64)at & 15; }

FN void across_shift(u32 *to, const u32 *words, u32 count, u32 bits) {
  UNROLL for (u32 i = 0; i < count; ++i) to[i] = JOIN_SHIFTED(words[i], words[i + 1], bits);
}

// `count` words from the byte `from` of `words` on, at most 16; one word more than these must be
// there. All lanes shift alike, so they branch alike, and a register is named instead of chosen.
FN void across_move(u32 *to, const u32 *words, u32 count, u32 from) {
  const u32 bits = 8 * (from % 4);
  switch (from / 4) {
    case 0:
      across_shift(to, words, count, bits);
      break;
    case 1:
      across_shift(to, words + 1, count, bits);
      break;
    case 2:
      across_shift(to, words + 2, count, bits);
      break;
    case 3:
      across_shift(to, words + 3, count, bits);
      break;
    default:
      across_shift(to, words + 4, count, bits);
  }
}

// The block that begins `from` bytes behind the first one's beginning, 16 at most.
FN Block across_join(Block first, Block second, u32 from) {
  u32 words[9];
  Block joined;
  UNROLL for (u32 w = 0; w < 4; ++w) {
    words[w] = first.w[w];
    words[4 + w] = second.w[w];
  }
  words[8] = 0;
  across_move(joined.w, words, 4, from);
  return joined;
}

#ifdef HAS_WORD_OF_LANE

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

// Bytes `first` up to `end` of a block of the text's memory, which lies at `at`, XORed with one of
// the keystream.
FN void across_xor_bytes(GLOBAL u8 *out, GLOBAL const u8 *in, Block key, u64 at, u32 first,
                         u32 end) {
  ROLLED for (u32 i = first; i < end; ++i) {
    const u32 word = i < 8 ? (i < 4 ? key.w[0] : key.w[1]) : (i < 12 ? key.w[2] : key.w[3]);
    out[at + i] = (u8)(in[at + i] ^ word >> (8 * (i % 4)));
  }
}

// Byte `lane` of the block that lane `owner` has, in the lowest bits.
FN u32 across_byte_of(u32 owner, Block block, SHARED u32 *scratch) {
  const u32 lane = lane_id() % 32;
  const Block all = across_block_of(owner, block, scratch);
  const u32 low = lane % 8 < 4 ? all.w[0] : all.w[1], high = lane % 8 < 4 ? all.w[2] : all.w[3];
  return (lane % 16 < 8 ? low : high) >> (8 * (lane % 4));
}

// XORs a block of memory of which only the bytes `first` up to `end` are the text's: as many lanes
// write one each. `key`: its keystream, which lane `owner` has.
FN void across_xor_edge(GLOBAL u8 *out, GLOBAL const u8 *in, u32 owner, Block key, u32 first,
                        u32 end, SHARED u32 *scratch) {
  const u32 lane = lane_id() % 32, byte = across_byte_of(owner, key, scratch);
  if (lane >= first && lane < end) out[lane] = (u8)(in[lane] ^ byte);
}

// The keystream of the blocks of memory in which a lane's own begin: `from` is how far behind the
// beginning of the block before. The one before lane 0's first is the last of all, for
// across_xor().
FN void across_move_keystream(Block *blocks, u32 count, u32 from, SHARED u32 *scratch) {
  const u32 lane = lane_id() % 32;
  const Block end = across_block_of(lane + 31, blocks[count - 1], scratch);
  Block beside = end;
  UNROLL for (u32 i = 0; i < count; ++i) {
    const u32 n = count - 1 - i;
    Block above = end, before = beside;
    if (n != 0) above = across_block_of(lane + 31, blocks[n - 1], scratch);
    if (lane == 0) before = above;
    blocks[n] = across_join(before, blocks[n], from);
    beside = above;
  }
}

#define ACROSS_MOST_BLOCKS 4u

// XORs `count` blocks of each lane, which this changes, with a text of `length` bytes: a lane's
// block n begins at byte 16 * (number + 32 * n) of the text, if it lies there at all. The keystream
// moves between the lanes, and so a lane writes the blocks of memory in which its own begin. Of the
// first and behind the last the warp has a part, 16 bytes in all, whose keystream is lane 0's first
// block then, and as many lanes write a byte each. All that is read comes before what is written,
// or every block would wait for memory by itself. All lanes move the keystream, also where there is
// no text: behind a branch that some might not take, a compiler would give each look-up of the
// cipher an address of its own.
FN void across_xor(GLOBAL u8 *out, GLOBAL const u8 *in, Block *blocks, u32 count, u64 number,
                   u64 length, SHARED u32 *scratch) {
  const u32 lane = lane_id() % 32, skew = across_skew(out), most = 1u << 16;
  across_move_keystream(blocks, count, 16 - skew, scratch);
  const u32 edge_key = across_byte_of(0, blocks[0], scratch);

  // Of the memory from `base` on, the bytes from `begin` up to `end` are the warp's and the text's.
  // Before the text begins the base wraps around.
  const u64 base = 16 * (number - lane) - skew, before = base < length ? 0 : 0 - base;
  const u64 left = length - base;
  const u32 begin = before < skew ? skew : before < most ? (u32)before : most;
  const u32 end = left < most ? (u32)left : most;
#define ACROSS_PLACE(n) (16 * lane + 512 * (n))
#define ACROSS_IS_WHOLE(n) (ACROSS_PLACE(n) >= begin && ACROSS_PLACE(n) + 16 <= end)
  GLOBAL const u8 *from = in + (base + 16 * lane);
  GLOBAL u8 *to = out + (base + 16 * lane);
  const u32 in_skew = across_skew(from);
  Block text[ACROSS_MOST_BLOCKS];
  UNROLL for (u32 n = 0; n < count; ++n) {
    const Block zero = {{0, 0, 0, 0}};
    text[n] = zero;
    if (ACROSS_IS_WHOLE(n)) text[n] = load_block(from - in_skew + 512 * n);
  }
  const u32 edge = lane + (lane < skew ? 512 * count : 0);
  const u32 has_edge = skew != 0 && lane < 16 && edge >= begin && edge < end;
  u32 edge_text = 0;
  if (has_edge) edge_text = in[base + edge];
  if (in_skew != 0) {
    UNROLL for (u32 n = 0; n < count; ++n) {
      if (ACROSS_IS_WHOLE(n))
        text[n] = across_join(text[n], load_block(from - in_skew + 512 * n + 16), in_skew);
    }
  }
  UNROLL for (u32 n = 0; n < count; ++n) {
    if (ACROSS_IS_WHOLE(n)) store_block(to + 512 * n, block_xor(text[n], blocks[n]));
  }
  if (has_edge) out[base + edge] = (u8)(edge_text ^ edge_key);
  // The text begins or ends in a block of memory.
  UNROLL for (u32 n = 0; n < count; ++n) {
    const u32 place = ACROSS_PLACE(n), is_edge = n == 0 && lane == 0 && skew != 0;
    if (!is_edge && !ACROSS_IS_WHOLE(n) && place + 16 > begin && place < end)
      across_xor_bytes(out, in, blocks[n], base + place, begin > place ? begin - place : 0,
                       end - place < 16 ? end - place : 16);
  }
#undef ACROSS_PLACE
#undef ACROSS_IS_WHOLE
}

#endif
