// How the text of data units that end in a partial block is loaded and stored; common to all
// ciphers. See xts_partial_block.inc.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/stream_text.h"
#include "kernels/block/unaligned.h"
#include "kernels/block/xts_tweak.h"

#define XTS_TILE_SLOTS (BLOCK_TABLE_BLOCKS * WARP_THREADS)

// A thread's slots of a tile: the offset of each from the tile's beginning, below 4096, and the
// bytes that it has beyond a block, at most 15. Each slot takes half a register.
typedef struct XtsPartialSlots {
  u32 pairs[BLOCK_TABLE_BLOCKS / 2];
} XtsPartialSlots;

FN u32 xts_partial_at(XtsPartialSlots slots, u32 n) {
  return slots.pairs[n / 2] >> (16 * (n % 2) + 4) & 4095;
}
FN u32 xts_partial_more(XtsPartialSlots slots, u32 n) {
  return slots.pairs[n / 2] >> 16 * (n % 2) & 15;
}

// Returns `word` itself, in a way that the compiler cannot see through. So it recomputes what it
// derives from the word instead of keeping it in registers.
FN u32 xts_partial_again(u32 word, SHARED u32 *scratch) {
  return warp_shuffle(word, thread_id() % WARP_THREADS, scratch);
}

// Computes a thread's slots. `place` is the position of the thread's first slot, and `first_unit`
// the unit of the tile's first. `left` is the number of the piece's slots from there on, and
// `bytes_left` their bytes modulo 2^32.
FN XtsPartialSlots xts_partial_slots(XtsPlace place, u32 first_unit, u32 left,
                                     GLOBAL const CipherPiece *piece, u32 bytes_left) {
  const u32 unit_slots = piece->unit_bytes / 16, rest = piece->unit_bytes % 16;
  u32 unit = place.unit - first_unit, slot = place.slot;
  XtsPartialSlots slots = {{0, 0}};
  UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
    const u32 number = thread_id() % WARP_THREADS + n * WARP_THREADS;
    const u32 at = 16 * number + unit * rest;
    u32 more = slot + 1 == unit_slots && number < left ? rest : 0;
    // The piece's last unit may have another length.
    if (number + 1 == left) more = bytes_left - at - 16;
    slots.pairs[n / 2] |= (at << 4 | more) << 16 * (n % 2);
    slot += WARP_THREADS;
    while (slot >= unit_slots) {
      slot -= unit_slots;
      ++unit;
    }
  }
  return slots;
}

// Loads `bytes` (1 to 16) from any address; the other bytes of the result are undefined.
FN Block xts_partial_bytes(GLOBAL const u8 *from, u32 bytes) {
  const u32 skew = unaligned_skew(from);
  const Block first = load_block(from - skew);
  Block second = first;
  if (skew + bytes > 16) second = load_block(from - skew + 16);
  return stream_join(first, second, skew);
}

// Joins first[n] and second[n], as stream_join() does, for each of a thread's slots, and stores the
// result in first[n]. Slots lie at their offsets from `text`. `is_written`: shifts for writing
// instead of reading.
FN void xts_partial_join(Block *first, const Block *second, GLOBAL const u8 *text,
                         XtsPartialSlots slots, u32 is_written) {
  // Most often a thread's slots belong to one unit and have the same alignment.
  const u32 last = BLOCK_TABLE_BLOCKS - 1, from = xts_partial_at(slots, 0);
  if (!WARP_ANY(xts_partial_at(slots, last) != from + 16 * WARP_THREADS * last)) {
    const u32 skew = unaligned_skew(text + from);
    unaligned_join_each(first, second, BLOCK_TABLE_BLOCKS, is_written ? 16 - skew : skew);
  } else {
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
      const u32 skew = unaligned_skew(text + xts_partial_at(slots, n));
      first[n] = stream_join(first[n], second[n], is_written ? 16 - skew : skew);
    }
  }
}

// Loads the first block of each slot that exists. `in` is the tile's beginning.
FN void xts_partial_read(Block *blocks, GLOBAL const u8 *in, XtsPartialSlots slots, u32 left) {
  Block second[BLOCK_TABLE_BLOCKS];
  UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
    const Block zero = {{0, 0, 0, 0}};
    blocks[n] = second[n] = zero;
    if (thread_id() % WARP_THREADS + n * WARP_THREADS < left) {
      GLOBAL const u8 *from = in + xts_partial_at(slots, n);
      const u32 skew = unaligned_skew(from);
      blocks[n] = load_block(from - skew);
      second[n] = load_block(from - skew + (skew != 0 ? 16 : 0));
    }
  }
  xts_partial_join(blocks, second, in, slots, 0);
}

// Returns how many of the tile's slots exist, given `left`.
FN u32 xts_partial_count(u32 left) { return left < XTS_TILE_SLOTS ? left : XTS_TILE_SLOTS; }

// What a thread knows of the slots before, while it shifts its own one after the other.
typedef struct XtsPartialMoved {
  Block before;    // the last 16 bytes of the slot before thread 0's next one
  Block end_tail;  // in the thread of the tile's last slot: that slot's last 16 bytes
  u32 end;         // and the offset at which it ends
} XtsPartialMoved;

// Returns the last 16 bytes before the thread's slot n. `tail` is the last 16 bytes of slot n. All
// threads call this together, for each n from 0 on.
FN Block xts_partial_move(XtsPartialMoved *moved, u32 n, Block tail, XtsPartialSlots slots,
                          u32 left, SHARED u32 *scratch) {
  const u32 thread = thread_id() % WARP_THREADS;
  // A mask, since a compiler would put an array that is indexed by n into memory.
  const u32 mine = thread + n * WARP_THREADS + 1 == xts_partial_count(left) ? ~0u : 0u;
  moved->end |= (xts_partial_at(slots, n) + 16 + xts_partial_more(slots, n)) & mine;
  UNROLL for (u32 w = 0; w < 4; ++w) moved->end_tail.w[w] |= tail.w[w] & mine;
  const Block neighbour = unaligned_block_of(thread + WARP_THREADS - 1, tail, scratch);
  const Block before = thread == 0 ? moved->before : neighbour;
  moved->before = neighbour;
  return before;
}

// Writes the memory blocks in which slots begin. At both ends of the tile, 16 threads each write
// the bytes of the memory block that belong to the tile.
FN void xts_partial_write(GLOBAL u8 *out, const Block *blocks, const XtsPartialMoved *moved,
                          XtsPartialSlots slots, u32 left, SHARED u32 *scratch) {
  const u32 thread = thread_id() % WARP_THREADS, last = xts_partial_count(left) - 1;
  const u32 end = warp_shuffle(moved->end, last % WARP_THREADS, scratch);
  const u32 begin_skew = unaligned_skew(out), end_skew = unaligned_skew(out + end);
  const Block at_end = stream_join(moved->end_tail, moved->end_tail, 16 - end_skew);
  const u32 end_byte = unaligned_byte_of(last % WARP_THREADS, at_end, scratch);
  const u32 begin_byte = unaligned_byte_of(0, blocks[0], scratch);
  if (left == 0) return;
  UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
    const u32 number = thread + n * WARP_THREADS;
    GLOBAL u8 *to = out + xts_partial_at(slots, n);
    if (number < left && (number != 0 || begin_skew == 0))
      store_block(to - unaligned_skew(to), blocks[n]);
  }
  if (thread < 16) {
    if (begin_skew != 0 && thread >= begin_skew) out[thread - begin_skew] = (u8)begin_byte;
  } else if (thread % 16 < end_skew) {
    out[end - end_skew + thread % 16] = (u8)end_byte;
  }
}

// Describes the last slot of a point's unit: `at` is its offset in the piece, and `slot` its number
// in the unit. `is_there`: the slot has a partial block and lies between this point and the next.
// `is_alone`: the memory blocks around it contain no other such slot and no bytes of others.
typedef struct XtsPartialEnd {
  u64 at;
  u32 slot, is_there, is_alone;
} XtsPartialEnd;

FN XtsPartialEnd xts_partial_end(GLOBAL const CipherPiece *piece, u32 point) {
  const u32 each = xts_points_of_unit(piece->unit_bytes / 16);
  const u32 unit = (point - piece->first_point) / each,
            stretch = (point - piece->first_point) % each;
  const u64 begin = (u64)unit * piece->unit_bytes, left = piece->length - begin;
  const u32 bytes = left < piece->unit_bytes ? (u32)left : piece->unit_bytes;
  XtsPartialEnd end;
  end.slot = bytes / 16 - 1;
  end.at = begin + 16 * end.slot;
  end.is_there = bytes % 16 != 0 && end.slot / XTS_STRETCH == stretch;
  // The next unit's last slot must not be its first.
  end.is_alone = end.slot != 0 && left >= (u64)bytes + 32;
  return end;
}

// Writes a block to any address. If `is_alone`, see XtsPartialEnd, the bytes around it may be
// rewritten.
FN void xts_partial_put(GLOBAL u8 *to, Block block, u32 is_alone) {
  const u32 skew = unaligned_skew(to);
  if (skew == 0) {
    store_block(to, block);
  } else if (is_alone) {
    GLOBAL u8 *first = to - skew;
    const Block turned = stream_join(block, block, 16 - skew);
    store_block(first, block_join(load_block(first), turned, skew));
    store_block(first + 16, block_join(turned, load_block(first + 16), skew));
  } else {
    block_store_bytes(to, block, 16);
  }
}
