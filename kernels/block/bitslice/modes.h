// The bitsliced kernels that are parallel in blocks; included by kernels.h for each
// cipher. They read plain round keys.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/bitslice/lane_blocks.h"

#ifdef BLOCK_SLICED_ACROSS
#include "kernels/block/bitslice/across.h"
#endif

#define BLOCK_TILE_PARAMETERS                                                           \
  (GLOBAL const CipherPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *schedules, \
   u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base)

FN void BLOCK_NAME(tiles)(GLOBAL const CipherPiece *pieces, u32 count, u64 tiles,
                          GLOBAL const u32 *schedules, u32 rounds, GLOBAL const u8 *in_base,
                          GLOBAL u8 *out_base, u32 mode, u32 inverse, SHARED u32 *scratch) {
  const u32 trips = block_trips(tiles);
  u32 p = 0;
  ROLLED for (u32 trip = 0; trip < trips; ++trip) {
    const u64 tile = (u64)trip * block_teams() + block_team();
    p = block_next_piece(pieces, count, p, tile);
    GLOBAL const CipherPiece *piece = pieces + p;
    GLOBAL const u8 *in = in_base + piece->in;
    GLOBAL u8 *out = out_base + piece->out;
    GLOBAL const u32 *schedule = schedules + (u64)piece->key * BLOCK_SCHEDULE_WORDS;
    const LaneBlocks lane = {
        (tile - piece->first_tile) * (BLOCK_BITSLICE_BLOCKS * TEAM_LANES) + lane_id() % TEAM_LANES,
        TEAM_LANES, tile < tiles ? piece->length : 0,
        mode == BLOCK_MODE_ECB_ACROSS || block_aligned(in, out)};
    if (LANES_MAY_REST && !block_has_any(&lane)) continue;
    u32 state[128];
#ifdef BLOCK_SLICED_ACROSS
    if (mode == BLOCK_MODE_ECB_ACROSS)
      slice_load_across(state, in, &lane);
    else
#endif
      slice_load(state, in, &lane);
    block_transpose_state(state);
    BLOCK_NAME(begin)(state, schedule);
    BLOCK_NAME(rounds_from)(state, BLOCK_FIRST_ROUND, schedule, rounds, inverse);
    block_transpose_state(state);
#ifdef BLOCK_SLICED_ACROSS
    if (mode == BLOCK_MODE_ECB_ACROSS)
      slice_store_across(out, state, &lane, scratch);
    else
#endif
      slice_store(out, state, in, &lane, mode, piece);
  }
  (void)scratch;
  AWAIT_BEFORE();
}

KERNEL_OF(BLOCK_NAME(ecb_encrypt), BLOCK_BITSLICE_LANES, BLOCK_BITSLICE_REGISTERS)
BLOCK_TILE_PARAMETERS {
  BLOCK_NAME(tiles)
  (pieces, count, tiles, schedules, rounds, in_base, out_base, BLOCK_MODE_ECB, 0, 0);
}

KERNEL_OF(BLOCK_NAME(ecb_decrypt), BLOCK_BITSLICE_LANES, BLOCK_BITSLICE_REGISTERS)
BLOCK_TILE_PARAMETERS {
  BLOCK_NAME(tiles)
  (pieces, count, tiles, schedules, rounds, in_base, out_base, BLOCK_MODE_ECB, 1, 0);
}

// Input and output must not share memory: a lane reads the block before its
// own, which another lane may have written.
KERNEL_OF(BLOCK_NAME(cbc_decrypt), BLOCK_BITSLICE_LANES, BLOCK_BITSLICE_REGISTERS)
BLOCK_TILE_PARAMETERS {
  BLOCK_NAME(tiles)
  (pieces, count, tiles, schedules, rounds, in_base, out_base, BLOCK_MODE_CBC_DECRYPT, 1, 0);
}

#ifdef BLOCK_SLICED_ACROSS
#undef BLOCK_TILE_PARAMETERS
#define BLOCK_TILE_PARAMETERS                                                           \
  (GLOBAL const CipherPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *schedules, \
   u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base SHARED_PARAMETER)

KERNEL_OF(BLOCK_NAME(ecb_encrypt_across), BLOCK_BITSLICE_LANES, BLOCK_BITSLICE_REGISTERS)
BLOCK_TILE_PARAMETERS {
  SHARED_WORDS(scratch);
  BLOCK_NAME(tiles)
  (pieces, count, tiles, schedules, rounds, in_base, out_base, BLOCK_MODE_ECB_ACROSS, 0, scratch);
}

KERNEL_OF(BLOCK_NAME(ecb_decrypt_across), BLOCK_BITSLICE_LANES, BLOCK_BITSLICE_REGISTERS)
BLOCK_TILE_PARAMETERS {
  SHARED_WORDS(scratch);
  BLOCK_NAME(tiles)
  (pieces, count, tiles, schedules, rounds, in_base, out_base, BLOCK_MODE_ECB_ACROSS, 1, scratch);
}
#endif

#undef BLOCK_TILE_PARAMETERS
