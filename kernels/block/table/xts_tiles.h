// The walk of xts.h, which is included once for each way in which texts come and go:
//   BLOCK_XTS_TILES       its name
//   BLOCK_XTS_IS_ALIGNED  whether it reads and writes whole tiles that lie as this piece's
//   BLOCK_XTS_READ        reads the lane's blocks of such a tile from `in`
//   BLOCK_XTS_MOVE        what all lanes do with enciphered blocks, of any tile
//   BLOCK_XTS_STORE       writes those of such a tile to `out`, with their tweaks
//
// SPDX-License-Identifier: Apache-2.0

// Each team walks tiles that follow each other, so that a lane steps from tweak
// to tweak, and asks nothing of its piece while `run`, the tiles ahead that are
// plain and end before the lane's data unit does, lasts. All teams make as many
// trips, and the four blocks of a lane are always enciphered, even if they are
// none: look-ups are cheapest in code that all lanes of a group run.
FN void BLOCK_XTS_TILES(GLOBAL const CipherPiece *pieces, u32 count, u64 tiles,
                        GLOBAL const u32 *schedules, u32 rounds, GLOBAL const u8 *in_base,
                        GLOBAL u8 *out_base, GLOBAL const u8 *points, SHARED u32 *tables,
                        u32 inverse) {
  const u32 tile_slots = BLOCK_TABLE_BLOCKS * TEAM_LANES;
  const u32 trips = block_trips(tiles);
  u64 tile = (u64)block_team_of(tiles) * trips;
  if (tile >= tiles) return;
  u32 p = 0, is_there = 0, run = 0, plain = 0;
  XtsPlace place = {0, 0, {{0, 0, 0, 0}}};
  // Of the lane's first block in the tile.
  GLOBAL const u8 *in = in_base;
  GLOBAL u8 *out = out_base;
  ROLLED for (u32 trip = 0; trip < trips; ++trip, ++tile) {
    if (run == 0) {
      const u32 before = p;
      p = block_next_piece(pieces, count, p, tile);
      GLOBAL const CipherPiece *piece = pieces + p;
      const u64 tile_start = (tile - piece->first_tile) * tile_slots;
      const u64 first = tile_start + lane_id() % TEAM_LANES;
      in = in_base + piece->in + 16 * first;
      out = out_base + piece->out + 16 * first;
      plain = 0;
      if (tile < tiles) {
        if (!is_there || p != before) place = xts_place(first, piece, points);
        is_there = 1;
        const u64 here =
            BLOCK_XTS_NAME(plain_slots)(piece, tile_start, BLOCK_XTS_IS_ALIGNED) / tile_slots;
        plain = here != 0;
        const u32 in_unit = (piece->unit_bytes / 16 - 1 - place.slot) / tile_slots;
        run = here < in_unit ? (u32)here : in_unit;
      }
    }
    GLOBAL const u32 *schedule = schedules + (u64)pieces[p].key * BLOCK_SCHEDULE_WORDS;
    Block blocks[BLOCK_TABLE_BLOCKS], tweaks[BLOCK_TABLE_BLOCKS];
    if (plain) {
      BLOCK_XTS_READ
      place = xts_tweaks(tweaks, BLOCK_TABLE_BLOCKS, place, run != 0, pieces + p, points);
    } else {
      UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) blocks[n] = tweaks[n] = place.tweak;
    }
    // Not within the branch: so that one instruction adds tweak and key.
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
      tweaks[n] = BLOCK_XTS_TWEAK(tweaks[n]);
      blocks[n] = block_xor(blocks[n], tweaks[n]);
    }
    BLOCK_XTS_NAME(cipher)(blocks, BLOCK_TABLE_BLOCKS, tables, schedule, rounds, inverse);
    BLOCK_XTS_MOVE
    if (plain) {
      BLOCK_XTS_STORE
    } else if (tile < tiles) {
      GLOBAL const CipherPiece *piece = pieces + p;
      GLOBAL const u8 *piece_in = in_base + piece->in;
      GLOBAL u8 *piece_out = out_base + piece->out;
      u64 first = (tile - piece->first_tile) * tile_slots + lane_id() % TEAM_LANES;
      ROLLED for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
        if (first < piece->slots) BLOCK_XTS_NAME(slot)
        (place, piece, piece_in, piece_out, tables, schedule, rounds, inverse);
        place = xts_next(place, piece, points);
        first += TEAM_LANES;
      }
    }
    in += 16 * tile_slots;
    out += 16 * tile_slots;
    if (run != 0) --run;
  }
}

#undef BLOCK_XTS_TILES
#undef BLOCK_XTS_IS_ALIGNED
#undef BLOCK_XTS_READ
#undef BLOCK_XTS_MOVE
#undef BLOCK_XTS_STORE
