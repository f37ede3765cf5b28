// Loads and stores texts at addresses that are not multiples of 16, by whole warps whose threads
// have neighbouring blocks. A thread reads or writes the 16-byte memory blocks in which its own
// blocks begin. It gets the rest of its blocks from the neighbouring thread. "Memory block" means
// 16 bytes at a multiple of 16.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/tiles.h"

// Returns how many bytes an address lies after a multiple of 16. It is the same for all threads of
// a warp.
FN u32 unaligned_skew(GLOBAL const u8 *at) { return (u32)(u64)at & 15; }

FN void unaligned_shift(u32 *to, const u32 *words, u32 count, u32 bits) {
  UNROLL for (u32 i = 0; i < count; ++i) to[i] = JOIN_SHIFTED(words[i], words[i + 1], bits);
}

// Copies `count` words that begin at byte `from` (at most 16) of `words`; one more word than these
// must be readable. All threads have the same `from`, so they take the same branch, and registers
// are addressed by constants.
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

// Returns the 16 bytes that begin `from` bytes (0 to 16) after the start of `first`, with `second`
// following it.
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

// As unaligned_join() for `count` blocks: replaces x[n] by the join of x[n] and second[n], with one
// branch for all.
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

// The block that `thread` of the warp passes as `mine`.
FN Block unaligned_block_of(u32 thread, Block mine, SHARED u32 *scratch) {
  Block theirs;
  UNROLL for (u32 w = 0; w < 4; ++w) theirs.w[w] = warp_shuffle(mine.w[w], thread % 32, scratch);
  return theirs;
}

// Loads `count` blocks per thread. `from` is the address of this thread's first block; x[n] comes
// from `from` + 512 * n. For each n, the blocks of the warp are contiguous, and those for n + 1
// follow. Every memory block that is read must contain bytes of the text.
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

// Returns, in the lowest bits, byte `thread` of the block that thread `owner` has.
FN u32 unaligned_byte_of(u32 owner, Block block, SHARED u32 *scratch) {
  const u32 thread = thread_id() % 32;
  const Block all = unaligned_block_of(owner, block, scratch);
  const u32 low = thread % 8 < 4 ? all.w[0] : all.w[1], high = thread % 8 < 4 ? all.w[2] : all.w[3];
  return (thread % 16 < 8 ? low : high) >> (8 * (thread % 4));
}

// XORs a memory block of which only bytes `first` up to `end` belong to the text: that many threads
// write one byte each. `key` is its keystream, which thread `owner` has.
FN void unaligned_xor_edge(GLOBAL u8 *out, GLOBAL const u8 *in, u32 owner, Block key, u32 first,
                           u32 end, SHARED u32 *scratch) {
  const u32 thread = thread_id() % 32, byte = unaligned_byte_of(owner, key, scratch);
  if (thread >= first && thread < end) out[thread] = (u8)(in[thread] ^ byte);
}

// Shifts the blocks of all threads to the memory blocks in which they begin: each result consists
// of the end of the block before and the beginning of the thread's own. `from` is 16 minus the
// skew. For thread 0, the block before its first one is the warp's last block, so that its result
// holds both ends of the warp's bytes, as unaligned_put() expects.
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

// Loads `count` blocks per thread: x[n] from `from` + 512 * n. The warp's blocks are contiguous.
// Only blocks that begin at bytes `begin` up to `end`, counted from the warp's first block, are
// read, as a whole; the others become zero. A thread reads both memory blocks in which each of its
// blocks lies. The second one is in a cache, and reading it costs no more than four words from the
// neighbouring thread. Since no thread needs another, the whole function may be inside a branch.
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

// Writes memory blocks as unaligned_move_blocks() returns them. `at` is the address of thread 0's
// first memory block. Only bytes `begin` up to `end`, counted from `at`, are written. If `skew` is
// not 0, the warp has only a part of the first memory block and of the one after the last, 16 bytes
// in all; 16 threads write one byte each, which is `edge_byte`.
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
    // The text begins or ends here, inside a memory block.
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

// Stores `count` blocks of each thread, which it modifies, to the addresses that unaligned_read()
// would read: `to` is the address of this thread's first block, and the first `end` bytes of the
// warp are stored. All threads exchange blocks, even if nothing is written: if a branch could
// exclude some threads, the compiler would compute a separate address for each table look-up of the
// cipher.
FN void unaligned_store(GLOBAL u8 *to, Block *blocks, u32 count, u32 end, SHARED u32 *scratch) {
  const u32 skew = unaligned_skew(to);
  unaligned_move_blocks(blocks, count, 16 - skew, scratch);
  const u32 edge_byte = unaligned_byte_of(0, blocks[0], scratch);
  unaligned_put(to - 16 * (thread_id() % 32) - skew, blocks, count, skew, skew, skew + end,
                edge_byte);
}

// XORs a text of `length` bytes with `count` blocks of keystream of each thread, which it modifies.
// Block n of a thread belongs to byte 16 * (number + 32 * n) of the text; blocks outside the text
// are ignored. Only the keystream is shifted, as in unaligned_store(). All reads come before the
// writes, otherwise each block would wait for memory separately.
FN void unaligned_xor(GLOBAL u8 *out, GLOBAL const u8 *in, Block *blocks, u32 count, u64 number,
                      u64 length, SHARED u32 *scratch) {
  const u32 thread = thread_id() % 32, skew = unaligned_skew(out), most = 1u << 16;
  unaligned_move_blocks(blocks, count, 16 - skew, scratch);
  const u32 edge_key = unaligned_byte_of(0, blocks[0], scratch);

  // In the memory from `base` on, bytes `begin` up to `end` belong to the warp and to the text.
  // `base` wraps around if it lies before the text.
  const u64 base = 16 * (number - thread) - skew, before = base < length ? 0 : 0 - base;
  const u64 left = length - base;
  const u32 begin = before < skew ? skew : before < most ? (u32)before : most;
  const u32 end = left < most ? (u32)left : most;
  // A memory block of the output corresponds to one or two memory blocks of the input. Only those
  // that contain bytes of the text are read.
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
    // Two at a time: more would not fit in registers.
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
