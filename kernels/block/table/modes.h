// ECB and CBC over tables; included by kernels.h for each form of a cipher.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/streams.h"

#define BLOCK_TILE_PARAMETERS                                                           \
  (GLOBAL const CipherPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *schedules, \
   u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base SHARED_PARAMETER)

// The frame of ECB and CBC decryption: a lane takes blocks first, first +
// TEAM_LANES, ... of a tile. `whole` says that the tile has all its blocks and
// that they can be read 16 bytes at a time.
#define BLOCK_FOR_EACH_TILE              \
  const u32 trips = block_trips(tiles);  \
  const u32 team = block_team_of(tiles); \
  if (team >= tiles) return;             \
  u32 p = 0;                             \
  ROLLED for (u32 trip = 0; trip < trips; ++trip)

#define BLOCK_TILE_PIECE                                                                      \
  const u64 tile = (u64)trip * block_teams() + team;                                          \
  p = block_next_piece(pieces, count, p, tile);                                               \
  GLOBAL const CipherPiece *piece = pieces + p;                                               \
  GLOBAL const u8 *in = in_base + piece->in;                                                  \
  GLOBAL u8 *out = out_base + piece->out;                                                     \
  GLOBAL const u32 *schedule = schedules + (u64)piece->key * BLOCK_SCHEDULE_WORDS;            \
  const u32 aligned = block_aligned(in, out);                                                 \
  const u64 length = tile < tiles ? piece->length : 0;                                        \
  const u64 tile_start = (tile - piece->first_tile) * (BLOCK_TABLE_BLOCKS * TEAM_LANES);      \
  const u32 whole = aligned && 16 * (tile_start + BLOCK_TABLE_BLOCKS * TEAM_LANES) <= length; \
  const u64 first = tile_start + lane_id() % TEAM_LANES;                                      \
  Block blocks[BLOCK_TABLE_BLOCKS];                                                           \
  block_load_tile(blocks, in, first, length, aligned, whole);

KERNEL_OF(BLOCK_NAME(ecb_encrypt), BLOCK_LANES, BLOCK_TABLE_REGISTERS) BLOCK_TILE_PARAMETERS {
  SHARED_WORDS(tables);
  LET_NEXT_BEGIN();
  BLOCK_NAME(fill)(tables, 0);
  BLOCK_FOR_EACH_TILE {
    BLOCK_TILE_PIECE
    BLOCK_NAME(encrypt)(blocks, BLOCK_TABLE_BLOCKS, tables, schedule, rounds);
    block_store_tile(out, blocks, first, length, aligned, whole);
  }
}

KERNEL_OF(BLOCK_NAME(ecb_decrypt), BLOCK_LANES, BLOCK_TABLE_REGISTERS) BLOCK_TILE_PARAMETERS {
  SHARED_WORDS(tables);
  LET_NEXT_BEGIN();
  BLOCK_NAME(fill)(tables, 1);
  BLOCK_FOR_EACH_TILE {
    BLOCK_TILE_PIECE
    BLOCK_NAME(decrypt)(blocks, BLOCK_TABLE_BLOCKS, tables, schedule, rounds);
    block_store_tile(out, blocks, first, length, aligned, whole);
  }
}

// Input and output must not share memory: a lane reads the block before its
// own, which another lane may have written.
KERNEL_OF(BLOCK_NAME(cbc_decrypt), BLOCK_LANES, BLOCK_TABLE_REGISTERS) BLOCK_TILE_PARAMETERS {
  SHARED_WORDS(tables);
  LET_NEXT_BEGIN();
  BLOCK_NAME(fill)(tables, 1);
  BLOCK_FOR_EACH_TILE {
    BLOCK_TILE_PIECE
    BLOCK_NAME(decrypt)(blocks, BLOCK_TABLE_BLOCKS, tables, schedule, rounds);
    if (whole && tile_start != 0) {
      Block before[BLOCK_TABLE_BLOCKS];
      block_load_tile(before, in - 16, first, length, aligned, whole);
      UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) blocks[n] =
          block_xor(blocks[n], before[n]);
    } else {
      UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
        const u64 number = first + n * TEAM_LANES;
        if (number == 0 && !piece->continues)
          blocks[n] = block_xor(blocks[n], block_iv(piece));
        else if (16 * number < length)
          blocks[n] = block_xor(blocks[n], load_part(in + 16 * number - 16, 16, aligned));
      }
    }
    block_store_tile(out, blocks, first, length, aligned, whole);
  }
}

// CBC encryption: a lane a stream, in turns that all lanes of a group begin
// together. schedules: as stream_keys of keys.h makes them. chain: count of 4 words, the last
// ciphertext block of each stream so far.
#define BLOCK_CHAIN_PARAMETERS                                                                  \
  (GLOBAL const CipherPiece *pieces, u32 count, GLOBAL u32 *chain, GLOBAL const u32 *schedules, \
   u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base SHARED_PARAMETER)

#if BLOCK_TABLES == 4 && defined(HAS_TEAM_BARRIER)

// Blocks of different streams lie far apart, and each alone would be half a
// sector of memory, and a cycle of the load unit. So a team reads and writes
// four blocks of a stream side by side, four lanes a stream, and hands them to
// and from the stream's lane through local memory.
#ifndef LC_KERNELS_BLOCK_STAGE
#define LC_KERNELS_BLOCK_STAGE
#define BLOCK_STAGE_BLOCKS 4u

// Where block b of the team's stream s is: in other banks than what is read
// with it, by its own lane and by the four.
FN SHARED u8 *block_stage(SHARED u32 *tables, u32 s, u32 b) {
  SHARED u8 *team =
      (SHARED u8 *)(tables + BLOCK_TABLE4_LOCAL_WORDS + lane_id() / TEAM_LANES * (16 * TEAM_LANES));
  return team + 16 * (BLOCK_STAGE_BLOCKS * s + (b ^ ((s >> 1) & 3)));
}
#endif

KERNEL(BLOCK_NAME(cbc_encrypt), BLOCK_CHAIN_LANES(BLOCK_LANES)) BLOCK_CHAIN_PARAMETERS {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
  const u32 lane = lane_id() % TEAM_LANES;
  const u32 turn = block_stream(0);
  ROLLED for (u32 begin = 0; begin < count; begin += group_count() * group_lanes()) {
    const u32 own = begin + turn;
    GLOBAL const CipherPiece *piece = pieces + (own < count ? own : begin);
    GLOBAL const u32 *schedule = schedules + BLOCK_STREAM_KEY_WORD(piece->key);
    GLOBAL u8 *link = (GLOBAL u8 *)(chain + (u64)piece->chain * 4);
    const u64 length = own < count ? piece->length : 0;
    // A lane without a piece has another's, whose link is written meanwhile.
    Block state = own < count && piece->continues ? load_block(link) : block_iv(piece);
    // What this lane reads and writes for the team.
    GLOBAL const u8 *in[BLOCK_STAGE_BLOCKS];
    GLOBAL u8 *out[BLOCK_STAGE_BLOCKS];
    u64 end[BLOCK_STAGE_BLOCKS];
    Block next[BLOCK_STAGE_BLOCKS];
    UNROLL for (u32 i = 0; i < BLOCK_STAGE_BLOCKS; ++i) {
      const u32 unit = i * TEAM_LANES + lane;
      const u32 stream = own - lane + unit / BLOCK_STAGE_BLOCKS;
      GLOBAL const CipherPiece *other = pieces + (stream < count ? stream : begin);
      const u32 at = 16 * (unit % BLOCK_STAGE_BLOCKS);
      in[i] = in_base + other->in + at;
      out[i] = out_base + other->out + at;
      end[i] = stream < count && other->length > at ? other->length - at : 0;
      next[i] = state;
      if (end[i] != 0) next[i] = load_part(in[i], 16, block_aligned(in[i], out[i]));
    }
    ROLLED for (u64 at = 0; LANES_ANY(at < length); at += 16 * BLOCK_STAGE_BLOCKS) {
      TEAM_BARRIER();
      UNROLL for (u32 i = 0; i < BLOCK_STAGE_BLOCKS; ++i) {
        const u32 unit = i * TEAM_LANES + lane;
        store_block(block_stage(tables, unit / BLOCK_STAGE_BLOCKS, unit % BLOCK_STAGE_BLOCKS),
                    next[i]);
        // The next are under way while these are encrypted.
        const u64 later = at + 16 * BLOCK_STAGE_BLOCKS;
        if (later < end[i]) next[i] = load_part(in[i] + later, 16, block_aligned(in[i], out[i]));
      }
      TEAM_BARRIER();
      ROLLED for (u32 n = 0; n < BLOCK_STAGE_BLOCKS; ++n) {
        SHARED u8 *place = block_stage(tables, lane, n);
        Block block = block_xor(state, load_block(place));
        BLOCK_NAME(encrypt_stream)(&block, 1, tables, schedule, rounds);
        store_block(place, block);
        if (at + 16 * n < length) state = block;
      }
      TEAM_BARRIER();
      UNROLL for (u32 i = 0; i < BLOCK_STAGE_BLOCKS; ++i) {
        const u32 unit = i * TEAM_LANES + lane;
        if (at < end[i]) {
          const Block block =
              load_block(block_stage(tables, unit / BLOCK_STAGE_BLOCKS, unit % BLOCK_STAGE_BLOCKS));
          store_part(out[i] + at, block, 16, block_aligned(in[i], out[i]));
        }
      }
    }
    if (own < count) store_block(link, state);
  }
}

#else

KERNEL(BLOCK_NAME(cbc_encrypt), BLOCK_CHAIN_LANES(BLOCK_LANES)) BLOCK_CHAIN_PARAMETERS {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
  const u32 turn = block_stream(0);
  ROLLED for (u32 begin = 0; begin < count; begin += group_count() * group_lanes()) {
    const u32 own = begin + turn;
    GLOBAL const CipherPiece *piece = pieces + (own < count ? own : begin);
    GLOBAL const u8 *in = in_base + piece->in;
    GLOBAL u8 *out = out_base + piece->out;
    GLOBAL const u32 *schedule = schedules + BLOCK_STREAM_KEY_WORD(piece->key);
    GLOBAL u8 *link = (GLOBAL u8 *)(chain + (u64)piece->chain * 4);
    const u32 aligned = block_aligned(in, out);
    const u64 length = own < count ? piece->length : 0;
    // A lane without a piece has another's, whose link is written meanwhile.
    Block state = own < count && piece->continues ? load_block(link) : block_iv(piece);
    Block next = state;
    if (length != 0) next = load_part(in, 16, aligned);
    ROLLED for (u64 at = 0; LANES_ANY(at < length); at += 16) {
      // The next block is under way while this one is encrypted.
      Block block = block_xor(state, next);
      if (at + 16 < length) next = load_part(in + at + 16, 16, aligned);
      BLOCK_NAME(encrypt_stream)(&block, 1, tables, schedule, rounds);
      if (at < length) {
        state = block;
        store_part(out + at, state, 16, aligned);
      }
    }
    if (own < count) store_block(link, state);
  }
}

#endif

#undef BLOCK_CHAIN_PARAMETERS
