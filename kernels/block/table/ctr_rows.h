// The kernel of ctr.h, which is included once for each way in which texts come and go:
//   BLOCK_CTR_NAME      its name
//   BLOCK_CTR_MAY_TAKE  whether whole tiles may come so
//   BLOCK_CTR_ROW       a row of a tile: `data` from memory, and XORed with `blocks` to memory
//
// SPDX-License-Identifier: Apache-2.0

KERNEL_OF(BLOCK_CTR_NAME, BLOCK_LANES, BLOCK_TABLE_REGISTERS)
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
    const u64 first = number - lane_id() % TEAM_LANES;
    GLOBAL const u8 *in = in_base + piece->in;
    GLOBAL u8 *out = out_base + piece->out;
    const u32 aligned = block_aligned(in, out);
    const u32 whole = BLOCK_CTR_MAY_TAKE(aligned) && first < length &&
                      16 * (first + (rows - 1) * 256 + tile_columns) <= length;
    ROLLED for (u32 row = 0; row < rows; ++row) {
      Block blocks[BLOCK_TABLE_BLOCKS], data[BLOCK_TABLE_BLOCKS];
      BLOCK_NAME(window_row)(blocks, &window, row, tables, schedule, rounds);
      if (whole) {
        BLOCK_CTR_ROW(in + 16 * number, out + 16 * number);
      } else {
        UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
          const u64 at = 16 * (number + n * TEAM_LANES);
          if (at < length) {
            const Block b = block_xor(blocks[n], load_part(in + at, length - at, aligned));
            store_part(out + at, b, length - at, aligned);
          }
        }
      }
      number += 256;
    }
  }
}
