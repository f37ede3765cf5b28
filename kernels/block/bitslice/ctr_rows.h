// The kernel of ctr.h, which is included once for each way in which texts come and go:
//   BLOCK_CTR_NAME     its name
//   BLOCK_CTR_LOCAL    its parameter of local memory, if any, which BLOCK_CTR_BEGIN names
//   BLOCK_CTR_ALIGNED  whether texts can be read and written 16 bytes at a time
//   BLOCK_CTR_STORE    XORs a text with the keystream in `state`, from `in` to `out`
//
// SPDX-License-Identifier: Apache-2.0

// `rows` of a window, or 0, which it is where the cipher has none: see layout.h.
KERNEL_OF(BLOCK_CTR_NAME, BLOCK_BITSLICE_LANES, BLOCK_BITSLICE_REGISTERS)
(GLOBAL const CipherPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *schedules, u32 rounds,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base, u32 rows BLOCK_CTR_LOCAL) {
  BLOCK_CTR_BEGIN
  const u32 trips = block_trips(tiles);
#ifdef BLOCK_SLICED_WINDOW
  const u32 window_size = 256 * rows;
#endif
  u32 p = 0;
  ROLLED for (u32 trip = 0; trip < trips; ++trip) {
    const u64 tile = (u64)trip * block_teams() + block_team();
    p = block_next_piece(pieces, count, p, tile);
    GLOBAL const CipherPiece *piece = pieces + p;
    GLOBAL const u8 *in = in_base + piece->in;
    GLOBAL u8 *out = out_base + piece->out;
    GLOBAL const u32 *schedule = schedules + (u64)piece->key * BLOCK_SCHEDULE_WORDS;
    const Block iv = block_iv(piece);
    const u64 in_piece = tile - piece->first_tile;
    LaneBlocks lane = {in_piece * (BLOCK_BITSLICE_BLOCKS * TEAM_LANES) + lane_id() % TEAM_LANES,
                       TEAM_LANES, tile < tiles ? piece->length : 0, BLOCK_CTR_ALIGNED};
    if (LANES_MAY_REST && (rows == 0 ? !block_has_any(&lane) : lane.length == 0)) continue;
#ifdef BLOCK_SLICED_WINDOW
    BLOCK_SLICED_WINDOW window = BLOCK_SLICED_NO_WINDOW;
    if (rows != 0) {
      const u64 in_windows = in_piece / BLOCK_BITSLICE_COLUMN_TILES * window_size +
                             in_piece % BLOCK_BITSLICE_COLUMN_TILES * TEAM_LANES +
                             lane_id() % TEAM_LANES;
      lane.number = in_windows - block_skew(iv, window_size);
      lane.step = 256;
      window = BLOCK_NAME(begin_window)(block_counter(block_window(iv, window_size), in_windows),
                                        schedule);
    }
#endif
    const u32 parts = rows == 0 ? 1 : rows / 32;
    ROLLED for (u32 part = 0; part < parts; ++part) {
      u32 state[128];
      u32 from = BLOCK_FIRST_ROUND;
#ifdef BLOCK_SLICED_WINDOW
      if (rows != 0) {
        from = BLOCK_NAME(in_window)(state, &window, part);
      } else
#endif
      {
        ROLLED for (u32 k = 0; k < 32; ++k) {
          block_turn(state);
          block_planes_set(state, 31, block_counter(iv, lane.number + k * lane.step));
        }
        block_transpose_state(state);
        BLOCK_NAME(begin)(state, schedule);
      }
      BLOCK_NAME(rounds_from)(state, from, schedule, rounds, 0);
      block_transpose_state(state);
      BLOCK_CTR_STORE
      lane.number += 32 * 256;
    }
  }
  AWAIT_BEFORE();
}
