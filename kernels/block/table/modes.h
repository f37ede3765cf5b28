// ECB, and decryption of CBC, over tables; included by kernels.h for each form of a cipher.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/tiles.h"

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
