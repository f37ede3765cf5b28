// A window of counters for a cipher that computes each from its first round on.
//
// SPDX-License-Identifier: Apache-2.0

#ifndef LC_KERNELS_BLOCK_PLAIN_WINDOW
#define LC_KERNELS_BLOCK_PLAIN_WINDOW

typedef struct PlainWindow {
  Block first;  // of the lane's counters in the first row
} PlainWindow;

#endif

#define BLOCK_WINDOW PlainWindow

// `first`: the window's first counter block; `column`: byte 15 of the lane's
// first block.
FN PlainWindow BLOCK_NAME(begin_window)(Block first, u32 column, SHARED const u32 *tables,
                                        GLOBAL const u32 *schedule) {
  PlainWindow window;
  window.first = first;
  window.first.w[3] ^= column << 24;
  return window;
}

// The lane's blocks in a row of the window, encrypted. A window begins where the bytes that
// count in it are zero but for higher bits of the row.
FN void BLOCK_NAME(window_row)(Block *blocks, const PlainWindow *window, u32 row,
                               SHARED const u32 *tables, GLOBAL const u32 *schedule, u32 rounds) {
  UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
    blocks[n] = window->first;
    blocks[n].w[3] ^= row << 16 ^ (n * TEAM_LANES) << 24;
  }
  BLOCK_NAME(encrypt)(blocks, BLOCK_TABLE_BLOCKS, tables, schedule, rounds);
}
