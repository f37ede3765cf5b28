// The bitsliced kernels that are parallel in blocks; included by kernels.h for each
// cipher. They read plain round keys.
//
// SPDX-License-Identifier: Apache-2.0

#ifndef LC_KERNELS_BLOCK_BITSLICE_MODES_COMMON
#define LC_KERNELS_BLOCK_BITSLICE_MODES_COMMON

#define BLOCK_MODE_ECB 0
#define BLOCK_MODE_CBC_DECRYPT 1
#define BLOCK_MODE_CTR 2
#define BLOCK_MODE_ECB_ACROSS 3  // of texts at any address

// A lane's blocks: those numbered number, number + step, ... in their piece. A
// number before 0 is a very large one, and like those behind the end no block.
typedef struct LaneBlocks {
  u64 number;
  u32 step;
  u64 length;   // of the piece, in bytes
  u32 aligned;  // 16-byte accesses are possible, of whatever blocks of memory
} LaneBlocks;

// Whether the team's 32 * TEAM_LANES blocks are all there, to their last byte,
// and can be read 16 bytes at a time.
FN u32 block_are_whole(const LaneBlocks *lane) {
  const u64 first = lane->number - lane_id() % TEAM_LANES;
  return lane->aligned && first < lane->length &&
         16 * (first + 31 * lane->step + TEAM_LANES) <= lane->length;
}

// Whether any lane of the team has a block.
FN u32 block_has_any(const LaneBlocks *lane) {
  return 16 * (lane->number - lane_id() % TEAM_LANES) < lane->length;
}

// Where block k is not a constant, the state goes round once.
FN void block_turn(u32 *state) {
  UNROLL for (u32 c = 0; c < 4; ++c) {
    const u32 first = state[32 * c];
    UNROLL for (u32 k = 0; k < 31; ++k) state[32 * c + k] = state[32 * c + k + 1];
    state[32 * c + 31] = first;
  }
}

FN void slice_load(u32 *state, GLOBAL const u8 *in, const LaneBlocks *lane) {
  if (block_are_whole(lane)) {
    UNROLL for (u32 k = 0; k < 32; ++k) {
      block_planes_set(state, k, load_block(in + 16 * (lane->number + k * lane->step)));
    }
  } else {
    ROLLED for (u32 k = 0; k < 32; ++k) {
      const u64 at = 16 * (lane->number + k * lane->step);
      Block b = {{0, 0, 0, 0}};
      if (at < lane->length) b = load_part(in + at, 16, lane->aligned);
      block_turn(state);
      block_planes_set(state, 31, b);
    }
  }
}

// `mode` is a constant; `in` is what the mode adds to the blocks, if anything.
FN void slice_store(GLOBAL u8 *out, u32 *state, GLOBAL const u8 *in, const LaneBlocks *lane,
                    u32 mode, GLOBAL const CipherPiece *piece) {
  const u32 has_iv = mode == BLOCK_MODE_CBC_DECRYPT && !piece->continues;
  if (block_are_whole(lane) && !(has_iv && lane->number < TEAM_LANES)) {
    // Reads by eights, or each would wait for the write before it.
    UNROLL for (u32 eight = 0; eight < 32; eight += 8) {
      Block more[8];
      UNROLL for (u32 k = 0; k < 8; ++k) {
        const u64 at = 16 * (lane->number + (eight + k) * lane->step);
        if (mode == BLOCK_MODE_CTR) more[k] = load_block(in + at);
        if (mode == BLOCK_MODE_CBC_DECRYPT) more[k] = load_block(in + at - 16);
      }
      UNROLL for (u32 k = 0; k < 8; ++k) {
        Block b = block_planes_get(state, eight + k);
        if (mode != BLOCK_MODE_ECB) b = block_xor(b, more[k]);
        store_block(out + 16 * (lane->number + (eight + k) * lane->step), b);
      }
    }
  } else {
    ROLLED for (u32 k = 0; k < 32; ++k) {
      const u64 number = lane->number + k * lane->step, at = 16 * number;
      if (at < lane->length) {
        const u64 left = lane->length - at;
        Block b = block_planes_get(state, 0);
        if (mode == BLOCK_MODE_CTR) b = block_xor(b, load_part(in + at, left, lane->aligned));
        if (mode == BLOCK_MODE_CBC_DECRYPT)
          b = block_xor(b, has_iv && number == 0 ? block_iv(piece)
                                                 : load_part(in + at - 16, 16, lane->aligned));
        store_part(out + at, b, left, lane->aligned);
      }
      block_turn(state);
    }
  }
}

#endif

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
