// Texts at addresses that are no multiples of 16, for warps, whose threads have blocks side by
// side. A thread reads or writes the blocks of memory in which its own begin, and has the rest of
// them from the thread beside it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/tiles.h"

// How many bytes behind a multiple of 16 an address lies. It is the same for all threads.
FN u32 unaligned_skew(GLOBAL const u8 *at) { return (u32)(u64)at & 15; }

FN void unaligned_shift(u32 *to, const u32 *words, u32 count, u32 bits) {
  UNROLL for (u32 i = 0; i < count; ++i) to[i] = JOIN_SHIFTED(words[i], words[i + 1], bits);
}

// `count` words from the byte `from` of `words` on, at most 16; one word more than these must be
// there. All threads shift alike, so they branch alike, and a register is named instead of chosen.
FN void unaligned_move(u32 *to, const u32 *words, u32 count, u32 from) {
  const u32 bits = 8 * (from % 4);
  switch (from / 4) {
    case 0:
      unaligned_shift(to, words, count, bits);
      break;
    case 1:
      unaligned_shift(to, words + 1, count, bits);
      break;
    case 2:
      unaligned_shift(to, words + 2, count, bits);
      break;
    case 3:
      unaligned_shift(to, words + 3, count, bits);
      break;
    default:
      unaligned_shift(to, words + 4, count, bits);
  }
}

// The block that begins `from` bytes behind the first one's beginning, 16 at most.
FN Block unaligned_join(Block first, Block second, u32 from) {
  u32 words[9];
  Block joined;
  UNROLL for (u32 w = 0; w < 4; ++w) {
    words[w] = first.w[w];
    words[4 + w] = second.w[w];
  }
  words[8] = 0;
  unaligned_move(joined.w, words, 4, from);
  return joined;
}

#define UNALIGNED_MOST_BLOCKS 4u

FN void unaligned_shift_blocks(Block *x, const Block *second, u32 count, u32 word, u32 bits) {
  UNROLL for (u32 n = 0; n < count; ++n) {
    u32 words[9];
    UNROLL for (u32 w = 0; w < 4; ++w) {
      words[w] = x[n].w[w];
      words[4 + w] = second[n].w[w];
    }
    words[8] = 0;
    unaligned_shift(x[n].w, words + word, 4, bits);
  }
}

// As unaligned_join() for `count` blocks x[n], which it replaces, with one branch for all.
FN void unaligned_join_each(Block *x, const Block *second, u32 count, u32 from) {
  const u32 bits = 8 * (from % 4);
  switch (from / 4) {
    case 0:
      unaligned_shift_blocks(x, second, count, 0, bits);
      break;
    case 1:
      unaligned_shift_blocks(x, second, count, 1, bits);
      break;
    case 2:
      unaligned_shift_blocks(x, second, count, 2, bits);
      break;
    case 3:
      unaligned_shift_blocks(x, second, count, 3, bits);
      break;
    default:
      unaligned_shift_blocks(x, second, count, 4, bits);
  }
}

#ifdef HAS_WARP_SHUFFLE

FN Block unaligned_block_of(u32 thread, Block mine, SHARED u32 *scratch) {
  Block theirs;
  UNROLL for (u32 w = 0; w < 4; ++w) theirs.w[w] = warp_shuffle(mine.w[w], thread % 32, scratch);
  return theirs;
}

// x[n] of each thread: the blocks of a warp lie side by side for each n, and for the next n behind
// them. from: this thread's first.
FN void unaligned_load(Block *x, u32 count, GLOBAL const u8 *from, SHARED u32 *scratch) {
  const u32 thread = thread_id() % 32, skew = unaligned_skew(from);
  Block behind = {{0, 0, 0, 0}};
  UNROLL for (u32 n = 0; n < count; ++n) x[n] = load_block(from - skew + 512 * n);
  if (thread == 31 && skew != 0) behind = load_block(from - skew + 512 * (count - 1) + 16);
  UNROLL for (u32 n = 0; n < count; ++n) {
    const u32 i = count - 1 - n;
    const Block neighbour = unaligned_block_of(thread + 1, x[i], scratch);
    Block next = behind;
    if (thread != 31) next = neighbour;
    behind = neighbour;
    x[i] = unaligned_join(x[i], next, skew);
  }
}

// Byte `thread` of the block that thread `owner` has, in the lowest bits.
FN u32 unaligned_byte_of(u32 owner, Block block, SHARED u32 *scratch) {
  const u32 thread = thread_id() % 32;
  const Block all = unaligned_block_of(owner, block, scratch);
  const u32 low = thread % 8 < 4 ? all.w[0] : all.w[1], high = thread % 8 < 4 ? all.w[2] : all.w[3];
  return (thread % 16 < 8 ? low : high) >> (8 * (thread % 4));
}

// XORs a block of memory of which only the bytes `first` up to `end` are the text's: as many
// threads write one each. `key`: its keystream, which thread `owner` has.
FN void unaligned_xor_edge(GLOBAL u8 *out, GLOBAL const u8 *in, u32 owner, Block key, u32 first,
                           u32 end, SHARED u32 *scratch) {
  const u32 thread = thread_id() % 32, byte = unaligned_byte_of(owner, key, scratch);
  if (thread >= first && thread < end) out[thread] = (u8)(in[thread] ^ byte);
}

// What goes to the blocks of memory in which a thread's own begin: `from` is how far behind the
// beginning of the block before. The one before thread 0's first is the last of all, for
// unaligned_xor() and unaligned_store().
FN void unaligned_move_blocks(Block *blocks, u32 count, u32 from, SHARED u32 *scratch) {
  const u32 thread = thread_id() % 32;
  Block neighbour[UNALIGNED_MOST_BLOCKS], before[UNALIGNED_MOST_BLOCKS];
  UNROLL for (u32 n = 0; n < count; ++n) {
    neighbour[n] = unaligned_block_of(thread + 31, blocks[n], scratch);
  }
  UNROLL for (u32 n = 0; n < count; ++n) {
    before[n] = neighbour[n];
    if (thread == 0) before[n] = neighbour[(n + count - 1) % count];
  }
  unaligned_join_each(before, blocks, count, from);
  UNROLL for (u32 n = 0; n < count; ++n) blocks[n] = before[n];
}

// x[n] of each thread: the block at from + 512 * n. The warp's blocks lie side by side, and those
// are there, whole, that begin in bytes `begin` up to `end` behind the first one's beginning; the
// others are zero. The thread reads both blocks of memory in which each lies. The second is in a
// cache, and takes no more there than its four words from the thread beside; and since no thread
// needs another, all this may be behind a branch.
FN void unaligned_read(Block *x, u32 count, GLOBAL const u8 *from, u32 begin, u32 end) {
  const u32 place = 16 * (thread_id() % 32), skew = unaligned_skew(from), next = skew != 0 ? 16 : 0;
  GLOBAL const u8 *at = from - skew;
  Block second[UNALIGNED_MOST_BLOCKS];
  if (begin == 0 && end >= 512 * count) {
    UNROLL for (u32 n = 0; n < count; ++n) x[n] = load_block(at + 512 * n);
    UNROLL for (u32 n = 0; n < count; ++n) second[n] = load_block(at + 512 * n + next);
  } else {
    UNROLL for (u32 n = 0; n < count; ++n) {
      const Block zero = {{0, 0, 0, 0}};
      x[n] = second[n] = zero;
      if (place + 512 * n >= begin && place + 512 * n < end) {
        x[n] = load_block(at + 512 * n);
        second[n] = load_block(at + 512 * n + next);
      }
    }
  }
  unaligned_join_each(x, second, count, skew);
}

// Writes blocks of memory as unaligned_move_blocks() makes them: to thread 0's first, which lies at
// `at`, and to those behind it, as far as they lie in bytes `begin` up to `end` from there. Of the
// first, and of one behind the last, the warp has a part unless `skew` is 0, 16 bytes in all, of
// which 16 threads write one each.
FN void unaligned_put(GLOBAL u8 *at, const Block *blocks, u32 count, u32 skew, u32 begin, u32 end,
                      u32 edge_byte) {
  const u32 thread = thread_id() % 32, edge = thread + (thread < skew ? 512 * count : 0);
  if (skew != 0 && thread < 16 && edge >= begin && edge < end) at[edge] = (u8)edge_byte;
  const u32 has_edge = thread == 0 && skew != 0;
  if (begin <= skew && end >= skew + 512 * count) {
    UNROLL for (u32 n = 0; n < count; ++n) {
      if (n != 0 || !has_edge) store_block(at + (16 * thread + 512 * n), blocks[n]);
    }
  } else {
    // The text begins or ends here, in a part of a block of memory.
    UNROLL for (u32 n = 0; n < count; ++n) {
      const u32 place = 16 * thread + 512 * n;
      const u32 from = begin > place ? begin - place : 0, to = end > place ? end - place : 0;
      if (from == 0 && to >= 16)
        store_block(at + place, blocks[n]);
      else if (n != 0 || !has_edge)
        block_store_range(at + place, blocks[n], from, to < 16 ? to : 16);
    }
  }
}

// Writes `count` blocks of each thread, which this changes, to where unaligned_read() would read
// them from: the thread's first to `to`, and of the warp's `end` bytes. A thread writes the blocks
// of memory in which its own begin. All threads move blocks, also where nothing is written: behind
// a branch that some might not take, a compiler would give each look-up of the cipher an address of
// its own.
FN void unaligned_store(GLOBAL u8 *to, Block *blocks, u32 count, u32 end, SHARED u32 *scratch) {
  const u32 skew = unaligned_skew(to);
  unaligned_move_blocks(blocks, count, 16 - skew, scratch);
  const u32 edge_byte = unaligned_byte_of(0, blocks[0], scratch);
  unaligned_put(to - 16 * (thread_id() % 32) - skew, blocks, count, skew, skew, skew + end,
                edge_byte);
}

// XORs `count` blocks of each thread, which this changes, with a text of `length` bytes: a thread's
// block n begins at byte 16 * (number + 32 * n) of the text, if it lies there at all. Only the
// keystream moves, as in unaligned_store(). All that is read comes before what is written, or every
// block would wait for memory by itself.
FN void unaligned_xor(GLOBAL u8 *out, GLOBAL const u8 *in, Block *blocks, u32 count, u64 number,
                      u64 length, SHARED u32 *scratch) {
  const u32 thread = thread_id() % 32, skew = unaligned_skew(out), most = 1u << 16;
  unaligned_move_blocks(blocks, count, 16 - skew, scratch);
  const u32 edge_key = unaligned_byte_of(0, blocks[0], scratch);

  // Of the memory from `base` on, the bytes from `begin` up to `end` are the warp's and the text's.
  // Before the text begins the base wraps around.
  const u64 base = 16 * (number - thread) - skew, before = base < length ? 0 : 0 - base;
  const u64 left = length - base;
  const u32 begin = before < skew ? skew : before < most ? (u32)before : most;
  const u32 end = left < most ? (u32)left : most;
  // A block of the output's memory has bytes of one or two of the input's. Those are read that have
  // bytes of the text.
  GLOBAL const u8 *from = in + (base + 16 * thread);
  const u32 in_skew = unaligned_skew(from);
#define UNALIGNED_PLACE(n) (16 * thread + 512 * (n))
#define UNALIGNED_SECOND(n) (UNALIGNED_PLACE(n) + 16 - in_skew)
  Block text[UNALIGNED_MOST_BLOCKS];
  UNROLL for (u32 n = 0; n < count; ++n) {
    const Block zero = {{0, 0, 0, 0}};
    text[n] = zero;
    if (begin < UNALIGNED_SECOND(n) && end > UNALIGNED_PLACE(n))
      text[n] = load_block(from - in_skew + 512 * n);
  }
  const u32 edge = thread + (thread < skew ? 512 * count : 0);
  u32 edge_text = 0;
  if (skew != 0 && thread < 16 && edge >= begin && edge < end) edge_text = in[base + edge];
  if (in_skew != 0) {
    // Two at a time: registers have no room for more.
    const u32 two = count < 2 ? count : 2;
    UNROLL for (u32 n = 0; n < count; n += 2) {
      Block second[2] = {{{0, 0, 0, 0}}, {{0, 0, 0, 0}}};
      UNROLL for (u32 i = 0; i < two; ++i) {
        if (begin < UNALIGNED_PLACE(n + i) + 16 && end > UNALIGNED_SECOND(n + i))
          second[i] = load_block(from - in_skew + 512 * (n + i) + 16);
      }
      unaligned_join_each(text + n, second, two, in_skew);
    }
  }
#undef UNALIGNED_PLACE
#undef UNALIGNED_SECOND
  UNROLL for (u32 n = 0; n < count; ++n) blocks[n] = block_xor(text[n], blocks[n]);
  unaligned_put(out + base, blocks, count, skew, begin, end, edge_text ^ edge_key);
}

#endif
