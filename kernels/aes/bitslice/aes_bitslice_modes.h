// The bitsliced kernels that are parallel in blocks. Included once to read round
// keys from `schedules`, and once with AES_KEY_SLOT defined, to take them from
// the device's key slot; see aes_table.h.
//
// SPDX-License-Identifier: Apache-2.0

#ifdef AES_KEY_SLOT
#define AES_NAME(name) aes_bitslice_slot_##name
#define AES_ROUND_KEY(schedule, round) aes_slot_round_key(round)
#else
#define AES_NAME(name) aes_bitslice_##name
#define AES_ROUND_KEY(schedule, round) aes_round_key(schedule, 4, round)
#endif

#ifndef LC_KERNELS_AES_BITSLICE_MODES_COMMON
#define LC_KERNELS_AES_BITSLICE_MODES_COMMON

#include "aes_bitslice_window.h"

#define AES_MODE_ECB 0
#define AES_MODE_CBC_DECRYPT 1
#define AES_MODE_CTR 2

// A lane's blocks: those numbered number, number + step, ... in their piece. A
// number before 0 is a very large one, and like those behind the end no block.
typedef struct AesLaneBlocks {
  u64 number;
  u32 step;
  u64 length;   // of the piece, in bytes
  u32 aligned;  // 16-byte accesses are possible
} AesLaneBlocks;

// Whether the team's 32 * TEAM_LANES blocks are all there, to their last byte,
// and can be read 16 bytes at a time.
FN u32 aes_are_whole(const AesLaneBlocks *lane) {
  const u64 first = lane->number - lane_id() % TEAM_LANES;
  return lane->aligned && first < lane->length &&
         16 * (first + 31 * lane->step + TEAM_LANES) <= lane->length;
}

// Where block k is not a constant, the state goes round once.
FN void aes_turn(u32 *state) {
  UNROLL for (u32 c = 0; c < 4; ++c) {
    const u32 first = state[32 * c];
    UNROLL for (u32 k = 0; k < 31; ++k) state[32 * c + k] = state[32 * c + k + 1];
    state[32 * c + 31] = first;
  }
}

FN void aes_bitslice_load(u32 *state, GLOBAL const u8 *in, const AesLaneBlocks *lane) {
  if (aes_are_whole(lane)) {
    UNROLL for (u32 k = 0; k < 32; ++k) {
      aes_planes_set(state, k, load_block(in + 16 * (lane->number + k * lane->step)));
    }
  } else {
    ROLLED for (u32 k = 0; k < 32; ++k) {
      const u64 at = 16 * (lane->number + k * lane->step);
      Block b = {{0, 0, 0, 0}};
      if (at < lane->length) b = aes_load(in + at, 16, lane->aligned);
      aes_turn(state);
      aes_planes_set(state, 31, b);
    }
  }
}

// `mode` is a constant; `in` is what the mode adds to the blocks, if anything.
FN void aes_bitslice_store(GLOBAL u8 *out, u32 *state, GLOBAL const u8 *in,
                           const AesLaneBlocks *lane, u32 mode, GLOBAL const AesPiece *piece) {
  const u32 has_iv = mode == AES_MODE_CBC_DECRYPT && !piece->continues;
  if (aes_are_whole(lane) && !(has_iv && lane->number < TEAM_LANES)) {
    // Reads by eights, or each would wait for the write before it.
    UNROLL for (u32 eight = 0; eight < 32; eight += 8) {
      Block more[8];
      UNROLL for (u32 k = 0; k < 8; ++k) {
        const u64 at = 16 * (lane->number + (eight + k) * lane->step);
        if (mode == AES_MODE_CTR) more[k] = load_block(in + at);
        if (mode == AES_MODE_CBC_DECRYPT) more[k] = load_block(in + at - 16);
      }
      UNROLL for (u32 k = 0; k < 8; ++k) {
        Block b = aes_planes_get(state, eight + k);
        if (mode != AES_MODE_ECB) b = aes_xor(b, more[k]);
        store_block(out + 16 * (lane->number + (eight + k) * lane->step), b);
      }
    }
  } else {
    ROLLED for (u32 k = 0; k < 32; ++k) {
      const u64 number = lane->number + k * lane->step, at = 16 * number;
      if (at < lane->length) {
        const u64 left = lane->length - at;
        Block b = aes_planes_get(state, 0);
        if (mode == AES_MODE_CTR) b = aes_xor(b, aes_load(in + at, left, lane->aligned));
        if (mode == AES_MODE_CBC_DECRYPT)
          b = aes_xor(
              b, has_iv && number == 0 ? aes_iv(piece) : aes_load(in + at - 16, 16, lane->aligned));
        aes_store(out + at, b, left, lane->aligned);
      }
      aes_turn(state);
    }
  }
}

#endif

// Rounds `from` to the last.
FN void AES_NAME(rounds_from)(u32 *state, u32 from, GLOBAL const u32 *schedule, u32 rounds,
                              u32 inverse) {
  ROLLED for (u32 round = from; round < rounds; ++round) {
    KEEP_IN_STEP();
    aes_bitslice_round(state, aes_bitslice_key(AES_ROUND_KEY(schedule, round), inverse), inverse);
  }
  aes_bitslice_last_round(state, aes_bitslice_key(AES_ROUND_KEY(schedule, rounds), inverse),
                          inverse);
}

#define AES_TILE_PARAMETERS                                                                      \
  (GLOBAL const AesPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *schedules, u32 rounds, \
   GLOBAL const u8 *in_base, GLOBAL u8 *out_base)

FN void AES_NAME(tiles)(GLOBAL const AesPiece *pieces, u32 count, u64 tiles,
                        GLOBAL const u32 *schedules, u32 rounds, GLOBAL const u8 *in_base,
                        GLOBAL u8 *out_base, u32 mode, u32 inverse) {
  const u32 trips = aes_trips(tiles);
  u32 p = 0;
  ROLLED for (u32 trip = 0; trip < trips; ++trip) {
    const u64 tile = (u64)trip * aes_teams() + aes_team();
    p = aes_next_piece(pieces, count, p, tile);
    GLOBAL const AesPiece *piece = pieces + p;
    GLOBAL const u8 *in = in_base + piece->in;
    GLOBAL u8 *out = out_base + piece->out;
    GLOBAL const u32 *schedule = schedules + (u64)piece->key * AES_SCHEDULE_WORDS;
    const AesLaneBlocks lane = {
        (tile - piece->first_tile) * (AES_BITSLICE_BLOCKS * TEAM_LANES) + lane_id() % TEAM_LANES,
        TEAM_LANES, tile < tiles ? piece->length : 0, aes_aligned(in, out)};
    u32 state[128];
    aes_bitslice_load(state, in, &lane);
    aes_transpose_state(state);
    aes_bitslice_add_key(state, AES_ROUND_KEY(schedule, 0));
    AES_NAME(rounds_from)(state, 1, schedule, rounds, inverse);
    aes_transpose_state(state);
    aes_bitslice_store(out, state, in, &lane, mode, piece);
  }
  AWAIT_BEFORE();
}

KERNEL_OF(AES_NAME(ecb_encrypt), AES_BITSLICE_LANES, AES_BITSLICE_REGISTERS) AES_TILE_PARAMETERS {
  AES_NAME(tiles)(pieces, count, tiles, schedules, rounds, in_base, out_base, AES_MODE_ECB, 0);
}

KERNEL_OF(AES_NAME(ecb_decrypt), AES_BITSLICE_LANES, AES_BITSLICE_REGISTERS) AES_TILE_PARAMETERS {
  AES_NAME(tiles)(pieces, count, tiles, schedules, rounds, in_base, out_base, AES_MODE_ECB, 1);
}

// Input and output must not share memory: a lane reads the block before its
// own, which another lane may have written.
KERNEL_OF(AES_NAME(cbc_decrypt), AES_BITSLICE_LANES, AES_BITSLICE_REGISTERS) AES_TILE_PARAMETERS {
  AES_NAME(tiles)
  (pieces, count, tiles, schedules, rounds, in_base, out_base, AES_MODE_CBC_DECRYPT, 1);
}

// `rows` of a window, or 0: see aes_layout.h.
KERNEL_OF(AES_NAME(ctr), AES_BITSLICE_LANES, AES_BITSLICE_REGISTERS)
(GLOBAL const AesPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *schedules, u32 rounds,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base, u32 rows) {
  const u32 trips = aes_trips(tiles), window_size = 256 * rows;
  u32 p = 0;
  ROLLED for (u32 trip = 0; trip < trips; ++trip) {
    const u64 tile = (u64)trip * aes_teams() + aes_team();
    p = aes_next_piece(pieces, count, p, tile);
    GLOBAL const AesPiece *piece = pieces + p;
    GLOBAL const u8 *in = in_base + piece->in;
    GLOBAL u8 *out = out_base + piece->out;
    GLOBAL const u32 *schedule = schedules + (u64)piece->key * AES_SCHEDULE_WORDS;
    const Block iv = aes_iv(piece);
    const u64 in_piece = tile - piece->first_tile;
    AesLaneBlocks lane = {in_piece * (AES_BITSLICE_BLOCKS * TEAM_LANES) + lane_id() % TEAM_LANES,
                          TEAM_LANES, tile < tiles ? piece->length : 0, aes_aligned(in, out)};
    AesBitsliceWindow window = {0, 0, {0, 0, 0, 0}};
    if (rows != 0) {
      const u64 in_windows = in_piece / AES_BITSLICE_COLUMN_TILES * window_size +
                             in_piece % AES_BITSLICE_COLUMN_TILES * TEAM_LANES +
                             lane_id() % TEAM_LANES;
      lane.number = in_windows - aes_skew(iv, window_size);
      lane.step = 256;
      window = aes_bitslice_begin_window(aes_counter(aes_window(iv, window_size), in_windows),
                                         AES_ROUND_KEY(schedule, 0), AES_ROUND_KEY(schedule, 1),
                                         AES_ROUND_KEY(schedule, 2));
    }
    const u32 parts = rows == 0 ? 1 : rows / 32;
    ROLLED for (u32 part = 0; part < parts; ++part) {
      u32 state[128];
      u32 from = 3;
      if (rows != 0) {
        aes_bitslice_in_window(state, &window, part);
      } else {
        ROLLED for (u32 k = 0; k < 32; ++k) {
          aes_turn(state);
          aes_planes_set(state, 31, aes_counter(iv, lane.number + k * lane.step));
        }
        aes_transpose_state(state);
        aes_bitslice_add_key(state, AES_ROUND_KEY(schedule, 0));
        from = 1;
      }
      AES_NAME(rounds_from)(state, from, schedule, rounds, 0);
      aes_transpose_state(state);
      aes_bitslice_store(out, state, in, &lane, AES_MODE_CTR, piece);
      lane.number += 32 * 256;
    }
  }
  AWAIT_BEFORE();
}

#undef AES_NAME
#undef AES_ROUND_KEY
#undef AES_TILE_PARAMETERS
