// CTR over the tables of aes_table.h, which includes this for each form.
//
// In a window (see aes_layout.h) byte 14 of the counter block enters round 1 in
// column 1 alone, and byte 15 in column 0 alone; the other columns are the same
// in the whole window. So the state after round 2 is a constant, XOR what comes
// of the row, XOR what comes of the column: the first and the last are computed
// once a window, and a row, by five look-ups, is shared by all blocks that a
// lane takes of it. Rounds 1 and 2 take 5 look-ups for AES_TABLE_BLOCKS blocks
// instead of 128.
//
// SPDX-License-Identifier: Apache-2.0

#ifndef LC_KERNELS_AES_TABLE_CTR_COMMON
#define LC_KERNELS_AES_TABLE_CTR_COMMON

typedef struct AesWindow {
  u32 row;                          // byte 14 of the window's first counter block
  u32 row_key;                      // byte 14 of the first round key
  u32 column1;                      // round 1: column 1 less its part of byte 14
  Block columns[AES_TABLE_BLOCKS];  // round 2, less what comes of the row
} AesWindow;

#endif

// `first`: the window's first counter block; `column`: byte 15 of the lane's
// first block.
FN AesWindow AES_NAME(begin_window)(Block first, u32 column, SHARED const u32 *tables,
                                    GLOBAL const u32 *schedule) {
  const u32 copy = AES_COPY;
  const Block k0 = AES_ROUND_KEY(schedule, 4, 0);
  const Block k1 = AES_ROUND_KEY(schedule, 4, 1);
  const Block k2 = AES_ROUND_KEY(schedule, 4, 2);
  const Block s = aes_xor(first, k0);
  const u32 r2 = AES_COLUMN(s.w[2], s.w[3], s.w[0], s.w[1], k1.w[2]);
  const u32 r3 = AES_COLUMN(s.w[3], s.w[0], s.w[1], s.w[2], k1.w[3]);
  const u32 column0 = AES_LOOK0(s.w[0], 0) ^ AES_LOOK1(s.w[1], 1) ^ AES_LOOK2(s.w[2], 2) ^ k1.w[0];
  const u32 z0 = AES_LOOK2(r2, 2) ^ AES_LOOK3(r3, 3) ^ k2.w[0];
  const u32 z1 = AES_LOOK1(r2, 1) ^ AES_LOOK2(r3, 2) ^ k2.w[1];
  const u32 z2 = AES_LOOK0(r2, 0) ^ AES_LOOK1(r3, 1) ^ k2.w[2];
  const u32 z3 = AES_LOOK0(r3, 0) ^ AES_LOOK3(r2, 3) ^ k2.w[3];
  AesWindow window;
  window.row = BYTE_OF(first.w[3], 2);
  window.row_key = BYTE_OF(k0.w[3], 2);
  window.column1 = AES_LOOK0(s.w[1], 0) ^ AES_LOOK1(s.w[2], 1) ^ AES_LOOK3(s.w[0], 3) ^ k1.w[1];
  UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) {
    const u32 changed = s.w[3] ^ (column + n * TEAM_LANES) << 24;
    const u32 r0 = column0 ^ AES_LOOK3(changed, 3);
    window.columns[n].w[0] = z0 ^ AES_LOOK0(r0, 0);
    window.columns[n].w[1] = z1 ^ AES_LOOK3(r0, 3);
    window.columns[n].w[2] = z2 ^ AES_LOOK2(r0, 2);
    window.columns[n].w[3] = z3 ^ AES_LOOK1(r0, 1);
  }
  return window;
}

// The states after round 2 of the lane's blocks in a row of the window.
FN void AES_NAME(in_window)(Block *blocks, const AesWindow *window, u32 row,
                            SHARED const u32 *tables) {
  const u32 copy = AES_COPY;
  const u32 changed = (window->row + row) ^ window->row_key;
  const u32 r1 = window->column1 ^ AES_LOOK2(changed, 0);
  const Block of_row = {{AES_LOOK1(r1, 1), AES_LOOK0(r1, 0), AES_LOOK3(r1, 3), AES_LOOK2(r1, 2)}};
  UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) blocks[n] = aes_xor(window->columns[n], of_row);
}

KERNEL_OF(AES_NAME(ctr), AES_LANES, AES_TABLE_REGISTERS)
(GLOBAL const AesPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *schedules, u32 rounds,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base, u32 rows SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  LET_NEXT_BEGIN();
  AES_NAME(fill)(tables, 0);
  const u32 trips = aes_trips(tiles), window_size = 256 * rows;
  const u32 team = aes_team_of(tiles);
  if (team >= tiles) return;
  u32 p = 0;
  ROLLED for (u32 trip = 0; trip < trips; ++trip) {
    const u64 tile = (u64)trip * aes_teams() + team;
    p = aes_next_piece(pieces, count, p, tile);
    GLOBAL const AesPiece *piece = pieces + p;
    GLOBAL const u32 *schedule = schedules + (u64)piece->key * AES_SCHEDULE_WORDS;
    const u64 length = tile < tiles ? piece->length : 0;
    const Block iv = aes_iv(piece);
    const u32 skew = aes_skew(iv, window_size);
    const u32 tile_columns = AES_TABLE_BLOCKS * TEAM_LANES;
    const u64 in_piece = tile - piece->first_tile + (rows == 1 ? skew / tile_columns : 0);
    const u64 window_number = in_piece / AES_COLUMN_TILES * window_size;
    const u32 column = (u32)(in_piece % AES_COLUMN_TILES) * tile_columns + lane_id() % TEAM_LANES;
    const AesWindow window = AES_NAME(begin_window)(
        aes_counter(aes_window(iv, window_size), window_number), column, tables, schedule);

    // Block numbers in the piece; those before 0 are very large ones.
    u64 number = window_number + column - skew;
    const u64 first = number - lane_id() % TEAM_LANES;
    GLOBAL const u8 *in = in_base + piece->in;
    GLOBAL u8 *out = out_base + piece->out;
    const u32 aligned = aes_aligned(in, out);
    const u32 whole =
        aligned && first < length && 16 * (first + (rows - 1) * 256 + tile_columns) <= length;
    ROLLED for (u32 row = 0; row < rows; ++row) {
      Block blocks[AES_TABLE_BLOCKS], data[AES_TABLE_BLOCKS];
      AES_NAME(in_window)(blocks, &window, row, tables);
      AES_NAME(encrypt_from)(blocks, AES_TABLE_BLOCKS, 3, tables, schedule, rounds);
      if (whole) {
        UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) {
          data[n] = load_block(in + 16 * (number + n * TEAM_LANES));
        }
        UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) {
          store_block(out + 16 * (number + n * TEAM_LANES), aes_xor(blocks[n], data[n]));
        }
      } else {
        UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) {
          const u64 at = 16 * (number + n * TEAM_LANES);
          if (at < length) {
            const Block b = aes_xor(blocks[n], aes_load(in + at, length - at, aligned));
            aes_store(out + at, b, length - at, aligned);
          }
        }
      }
      number += 256;
    }
  }
}
