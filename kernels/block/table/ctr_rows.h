// The kernel of ctr.h, which is included once for each way in which texts come and go:
//   BLOCK_CTR_NAME       its name
//   BLOCK_CTR_REGISTERS  and the most registers of a lane
//   BLOCK_CTR_TILE       what is the same for all rows of a tile
//   BLOCK_CTR_ROW        XORs a row of the text with `blocks`, from `in` to `out`
//
// SPDX-License-Identifier: Apache-2.0

KERNEL_OF(BLOCK_CTR_NAME, BLOCK_LANES, BLOCK_CTR_REGISTERS)
(GLOBAL const CipherPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *schedules, u32 rounds,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base, u32 rows SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  LET_NEXT_BEGIN();
  BLOCK_NAME(fill)(tables, 0);
  const u32 trips = block_trips(tiles), window_size = 256 * rows;
  const u32 team = block_team_of(tiles);
  if (team >= tiles) return;
  u32 p = 0;
  ROLLED for (u32 trip = 0; trip < trips; ++trip) {
    const u64 tile = (u64)trip * block_teams() + team;
    p = block_next_piece(pieces, count, p, tile);
    GLOBAL const CipherPiece *piece = pieces + p;
    GLOBAL const u32 *schedule = schedules + (u64)piece->key * BLOCK_SCHEDULE_WORDS;
    const u64 length = tile < tiles ? piece->length : 0;
    const Block iv = block_iv(piece);
    const u32 skew = block_skew(iv, window_size);
    const u32 tile_columns = BLOCK_TABLE_BLOCKS * TEAM_LANES;
    const u64 in_piece = tile - piece->first_tile + (rows == 1 ? skew / tile_columns : 0);
    const u64 window_number = in_piece / BLOCK_COLUMN_TILES * window_size;
    const u32 column = (u32)(in_piece % BLOCK_COLUMN_TILES) * tile_columns + lane_id() % TEAM_LANES;
    const BLOCK_WINDOW window = BLOCK_NAME(begin_window)(
        block_counter(block_window(iv, window_size), window_number), column, tables, schedule);

    // Block numbers in the piece; those before 0 are very large ones.
    u64 number = window_number + column - skew;
    GLOBAL const u8 *in = in_base + piece->in;
    GLOBAL u8 *out = out_base + piece->out;
    BLOCK_CTR_TILE
    ROLLED for (u32 row = 0; row < rows; ++row) {
      Block blocks[BLOCK_TABLE_BLOCKS];
      BLOCK_NAME(window_row)(blocks, &window, row, tables, schedule, rounds);
      BLOCK_CTR_ROW
      number += 256;
    }
  }
  AWAIT_BEFORE();
}
