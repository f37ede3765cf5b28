// Unaligned texts in bitsliced warps of 32 threads: see kernels/block/unaligned.h. A row is the
// warp's blocks of one number k in all threads, 32 contiguous blocks. Rows need not be contiguous
// with each other.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/bitslice/blocks_of_thread.h"
#include "kernels/block/unaligned.h"

// Rows that are processed at a time: more would not fit in registers.
#define SLICE_UNALIGNED_ROWS 4u

// The addresses to which the warp's rows are written.
typedef struct SliceRows {
  GLOBAL u8 *to;  // the memory block in which the thread's first block begins
  u32 skew;       // the offset of that block in the memory block
  u32 row_bytes;  // distance from one row to the next
  // 1 if this thread writes one byte of the row's first memory block, or of the one after its last,
  // which the row fills only in part. 16 threads do so.
  u32 has_edge;
  int edge;     // the offset of this thread's byte from `to`
  u32 has_all;  // 1 if the memory block at `to` belongs to the row as a whole
} SliceRows;

FN SliceRows slice_rows(GLOBAL u8 *out, const BlocksOfThread *thread) {
  const u32 own = thread_id() % 32;
  GLOBAL u8 *to = out + 16 * thread->number;
  const u32 skew = unaligned_skew(to);
  const SliceRows rows = {to - skew,
                          skew,
                          16 * thread->step,
                          skew != 0 && own < 16,
                          (own < skew ? 512 : 0) - 15 * (int)own,
                          own != 0 || skew == 0};
  return rows;
}

// Returns the bytes of the text from row k on, at most a row, for code that processes row by row at
// the text's end.
FN u32 slice_left(const BlocksOfThread *thread, u32 k) {
  const u64 at = 16 * (thread->number - thread_id() % 32 + k * thread->step);
  const u64 left = at < thread->length ? thread->length - at : 0;
  return left < 512 ? (u32)left : 512;
}

// Loads the thread's blocks of SLICE_UNALIGNED_ROWS rows. `from` is the address of the first.
FN void slice_read(Block *x, GLOBAL const u8 *from, u32 row_bytes) {
  const u32 skew = unaligned_skew(from);
  UNROLL for (u32 n = 0; n < SLICE_UNALIGNED_ROWS; ++n) x[n] =
      load_block(from - skew + n * row_bytes);
  if (skew == 0) return;
  Block second[SLICE_UNALIGNED_ROWS];
  UNROLL for (u32 n = 0; n < SLICE_UNALIGNED_ROWS; ++n) {
    second[n] = load_block(from - skew + 16 + n * row_bytes);
  }
  unaligned_join_each(x, second, SLICE_UNALIGNED_ROWS, skew);
}

// Shifts the blocks of rows `first` and following to the memory blocks in which they begin. Thread
// 0's result holds both the row's end and its beginning.
FN void slice_move(Block *moved, const u32 *state, u32 first, u32 skew, SHARED u32 *scratch) {
  Block blocks[SLICE_UNALIGNED_ROWS];
  UNROLL for (u32 n = 0; n < SLICE_UNALIGNED_ROWS; ++n) {
    blocks[n] = block_planes_get(state, first + n);
    moved[n] = unaligned_block_of(thread_id() + 31, blocks[n], scratch);
  }
  unaligned_join_each(moved, blocks, SLICE_UNALIGNED_ROWS, 16 - skew);
}

FN void slice_load_unaligned(u32 *state, GLOBAL const u8 *in, const BlocksOfThread *thread) {
  GLOBAL const u8 *from = in + 16 * thread->number;
  if (block_are_whole(thread)) {
    UNROLL for (u32 first = 0; first < 32; first += SLICE_UNALIGNED_ROWS) {
      Block x[SLICE_UNALIGNED_ROWS];
      slice_read(x, from + first * 16 * thread->step, 16 * thread->step);
      UNROLL for (u32 n = 0; n < SLICE_UNALIGNED_ROWS; ++n)
          block_planes_set(state, first + n, x[n]);
    }
  } else {
    ROLLED for (u32 k = 0; k < 32; ++k) {
      Block x;
      unaligned_read(&x, 1, from + k * 16 * thread->step, 0, slice_left(thread, k));
      block_turn(state);
      block_planes_set(state, 31, x);
    }
  }
}

FN void slice_store_unaligned(GLOBAL u8 *out, u32 *state, const BlocksOfThread *thread,
                              SHARED u32 *scratch) {
  if (block_are_whole(thread)) {
    const SliceRows rows = slice_rows(out, thread);
    UNROLL for (u32 first = 0; first < 32; first += SLICE_UNALIGNED_ROWS) {
      Block moved[SLICE_UNALIGNED_ROWS];
      slice_move(moved, state, first, rows.skew, scratch);
      UNROLL for (u32 n = 0; n < SLICE_UNALIGNED_ROWS; ++n) {
        const u32 edge = unaligned_byte_of(0, moved[n], scratch);
        GLOBAL u8 *to = rows.to + (first + n) * rows.row_bytes;
        if (rows.has_all) store_block(to, moved[n]);
        if (rows.has_edge) to[rows.edge] = (u8)edge;
      }
    }
  } else {
    ROLLED for (u32 k = 0; k < 32; ++k) {
      Block block = block_planes_get(state, 0);
      unaligned_store(out + 16 * (thread->number + k * thread->step), &block, 1,
                      slice_left(thread, k), scratch);
      block_turn(state);
    }
  }
}

// XORs a text with the thread's blocks of keystream. The text is read in the memory blocks of the
// output; thread 0's first one contains bytes before the row.
FN void slice_xor_unaligned(GLOBAL u8 *out, u32 *state, GLOBAL const u8 *in,
                            const BlocksOfThread *thread, SHARED u32 *scratch) {
  if (block_are_whole(thread) && thread->number != thread_id() % 32) {
    const SliceRows rows = slice_rows(out, thread);
    GLOBAL const u8 *from = in + 16 * thread->number - rows.skew;
    UNROLL for (u32 first = 0; first < 32; first += SLICE_UNALIGNED_ROWS) {
      Block text[SLICE_UNALIGNED_ROWS], moved[SLICE_UNALIGNED_ROWS];
      u32 edge_text[SLICE_UNALIGNED_ROWS];
      UNROLL for (u32 n = 0; n < SLICE_UNALIGNED_ROWS; ++n) {
        edge_text[n] = rows.has_edge ? (from + (first + n) * rows.row_bytes)[rows.edge] : 0;
      }
      slice_read(text, from + first * rows.row_bytes, rows.row_bytes);
      slice_move(moved, state, first, rows.skew, scratch);
      UNROLL for (u32 n = 0; n < SLICE_UNALIGNED_ROWS; ++n) {
        const u32 edge_key = unaligned_byte_of(0, moved[n], scratch);
        GLOBAL u8 *to = rows.to + (first + n) * rows.row_bytes;
        if (rows.has_all) store_block(to, block_xor(text[n], moved[n]));
        if (rows.has_edge) to[rows.edge] = (u8)(edge_text[n] ^ edge_key);
      }
    }
  } else {
    ROLLED for (u32 k = 0; k < 32; ++k) {
      Block block = block_planes_get(state, 0);
      unaligned_xor(out, in, &block, 1, thread->number + k * thread->step, thread->length, scratch);
      block_turn(state);
    }
  }
}
