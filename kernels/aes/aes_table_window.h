// What CTR's counters of a window share with the tables of aes_table.h, which includes
// this for each form.
//
// In a window (see kernels/block/layout.h) byte 14 of the counter block enters round 1 in
// column 1 alone, and byte 15 in column 0 alone; the other columns are the same
// in the whole window. So the state after round 2 is a constant, XOR what comes
// of the row, XOR what comes of the column: the first and the last are computed
// once a window, and a row, by five look-ups, is shared by all blocks that a
// lane takes of it. Rounds 1 and 2 take 5 look-ups for BLOCK_TABLE_BLOCKS blocks
// instead of 128.
//
// SPDX-License-Identifier: Apache-2.0

#ifndef LC_KERNELS_AES_TABLE_WINDOW
#define LC_KERNELS_AES_TABLE_WINDOW

typedef struct AesWindow {
  u32 row;                            // byte 14 of the window's first counter block
  u32 row_key;                        // byte 14 of the first round key
  u32 column1;                        // round 1: column 1 less its part of byte 14
  Block columns[BLOCK_TABLE_BLOCKS];  // round 2, less what comes of the row
} AesWindow;

#endif

// `first`: the window's first counter block; `column`: byte 15 of the lane's
// first block.
FN AesWindow BLOCK_NAME(begin_window)(Block first, u32 column, SHARED const u32 *tables,
                                      GLOBAL const u32 *schedule) {
  const u32 copy = BLOCK_COPY;
  const Block k0 = BLOCK_ROUND_KEY(schedule, 4, 0);
  const Block k1 = BLOCK_ROUND_KEY(schedule, 4, 1);
  const Block k2 = BLOCK_ROUND_KEY(schedule, 4, 2);
  const Block s = block_xor(first, k0);
  const u32 r2 = AES_COLUMN(s.w[2], s.w[3], s.w[0], s.w[1], k1.w[2]);
  const u32 r3 = AES_COLUMN(s.w[3], s.w[0], s.w[1], s.w[2], k1.w[3]);
  const u32 column0 =
      BLOCK_LOOK0(s.w[0], 0) ^ BLOCK_LOOK1(s.w[1], 1) ^ BLOCK_LOOK2(s.w[2], 2) ^ k1.w[0];
  const u32 z0 = BLOCK_LOOK2(r2, 2) ^ BLOCK_LOOK3(r3, 3) ^ k2.w[0];
  const u32 z1 = BLOCK_LOOK1(r2, 1) ^ BLOCK_LOOK2(r3, 2) ^ k2.w[1];
  const u32 z2 = BLOCK_LOOK0(r2, 0) ^ BLOCK_LOOK1(r3, 1) ^ k2.w[2];
  const u32 z3 = BLOCK_LOOK0(r3, 0) ^ BLOCK_LOOK3(r2, 3) ^ k2.w[3];
  AesWindow window;
  window.row = BYTE_OF(first.w[3], 2);
  window.row_key = BYTE_OF(k0.w[3], 2);
  window.column1 =
      BLOCK_LOOK0(s.w[1], 0) ^ BLOCK_LOOK1(s.w[2], 1) ^ BLOCK_LOOK3(s.w[0], 3) ^ k1.w[1];
  UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
    const u32 changed = s.w[3] ^ (column + n * TEAM_LANES) << 24;
    const u32 r0 = column0 ^ BLOCK_LOOK3(changed, 3);
    window.columns[n].w[0] = z0 ^ BLOCK_LOOK0(r0, 0);
    window.columns[n].w[1] = z1 ^ BLOCK_LOOK3(r0, 3);
    window.columns[n].w[2] = z2 ^ BLOCK_LOOK2(r0, 2);
    window.columns[n].w[3] = z3 ^ BLOCK_LOOK1(r0, 1);
  }
  return window;
}

// The states after round 2 of the lane's blocks in a row of the window.
FN void BLOCK_NAME(in_window)(Block *blocks, const AesWindow *window, u32 row,
                              SHARED const u32 *tables) {
  const u32 copy = BLOCK_COPY;
  const u32 changed = (window->row + row) ^ window->row_key;
  const u32 r1 = window->column1 ^ BLOCK_LOOK2(changed, 0);
  const Block of_row = {
      {BLOCK_LOOK1(r1, 1), BLOCK_LOOK0(r1, 0), BLOCK_LOOK3(r1, 3), BLOCK_LOOK2(r1, 2)}};
  UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) blocks[n] =
      block_xor(window->columns[n], of_row);
}

// The lane's blocks in a row, encrypted.
FN void BLOCK_NAME(window_row)(Block *blocks, const AesWindow *window, u32 row,
                               SHARED const u32 *tables, GLOBAL const u32 *schedule, u32 rounds) {
  BLOCK_NAME(in_window)(blocks, window, row, tables);
  BLOCK_NAME(encrypt_from)(blocks, BLOCK_TABLE_BLOCKS, 3, tables, schedule, rounds);
}
