// XTS over tables; included by kernels.h for each form of a cipher, and for each standard that
// it has, with BLOCK_XTS_NAME(name) and BLOCK_XTS_TWEAK(tweak), the tweak as the standard has it.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/xts_tweak.h"

#ifndef BLOCK_KEY_SLOT

// The points of all pieces, `count` of them, a lane each. The schedules of the
// tweaks' keys come `keys` after those of the data's.
KERNEL(BLOCK_XTS_NAME(points), BLOCK_LANES)
(GLOBAL const CipherPiece *pieces, u32 piece_count, u32 count, GLOBAL const u32 *schedules,
 u32 keys, u32 rounds, GLOBAL u8 *points SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
  for (u32 n = group_id() * group_lanes() + lane_id(); n < count;
       n += group_count() * group_lanes()) {
    GLOBAL const CipherPiece *piece = pieces + xts_find_piece(pieces, piece_count, n);
    const u32 each = xts_points_of_unit(piece->unit_bytes / 16);
    const u32 unit = (n - piece->first_point) / each, stretch = (n - piece->first_point) % each;
    Block tweak = xts_unit_number(block_iv(piece), unit);
    BLOCK_NAME(encrypt)
    (&tweak, 1, tables, schedules + (u64)(keys + piece->key) * BLOCK_SCHEDULE_WORDS, rounds);
    store_block(points + 16 * (u64)n, xts_jump_stretches(BLOCK_XTS_TWEAK(tweak), stretch));
  }
}

#endif

FN void BLOCK_XTS_NAME(cipher)(Block *blocks, u32 count, SHARED const u32 *tables,
                               GLOBAL const u32 *schedule, u32 rounds, u32 inverse) {
  if (inverse)
    BLOCK_NAME(decrypt)(blocks, count, tables, schedule, rounds);
  else
    BLOCK_NAME(encrypt)(blocks, count, tables, schedule, rounds);
}

// One slot at any alignment, with ciphertext stealing (IEEE 1619, 5.3.2 and
// 5.4.2) where it ends its unit in a part of a block: what the first call makes
// goes behind, the first bytes of it, and the second takes what stood there.
FN void BLOCK_XTS_NAME(slot)(XtsPlace place, GLOBAL const CipherPiece *piece, GLOBAL const u8 *in,
                             GLOBAL u8 *out, SHARED const u32 *tables, GLOBAL const u32 *schedule,
                             u32 rounds, u32 inverse) {
  const u64 at = (u64)place.unit * piece->unit_bytes + 16 * place.slot;
  const u32 more = xts_slot_bytes(place, piece) - 16;
  const Block after = xts_times_x_below_32(place.tweak, 1);
  Block block = block_load_bytes(in + at, 16);
  for (u32 pass = 0;; ++pass) {
    const Block tweak = BLOCK_XTS_TWEAK(more != 0 && pass != inverse ? after : place.tweak);
    block = block_xor(block, tweak);
    BLOCK_XTS_NAME(cipher)(&block, 1, tables, schedule, rounds, inverse);
    block = block_xor(block, tweak);
    if (more == 0 || pass == 1) break;
    const Block stood = block_load_bytes(in + at + 16, more);
    block_store_bytes(out + at + 16, block, more);
    block = block_join(stood, block, more);
  }
  block_store_bytes(out + at, block, 16);
}

// How many of a piece's slots from a tile's first on lie side by side and whole, so
// that they can be read and written 16 bytes at a time: units are whole blocks or
// there is one, and a part of a block ends them.
FN u64 BLOCK_XTS_NAME(plain_slots)(GLOBAL const CipherPiece *piece, u64 tile_start, u32 aligned) {
  const u64 slots = piece->slots;
  const u32 straight = piece->unit_bytes % 16 == 0 || slots == piece->unit_bytes / 16;
  const u64 whole = slots - (piece->length % 16 != 0 ? 1 : 0);
  return straight && aligned && tile_start < whole ? whole - tile_start : 0;
}

#define BLOCK_XTS_TILES BLOCK_XTS_NAME(tiles)
#define BLOCK_XTS_IS_ALIGNED block_aligned(in, out)
#define BLOCK_XTS_READ                                  \
  UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) { \
    blocks[n] = load_block(in + 16 * n * TEAM_LANES);   \
  }
#define BLOCK_XTS_MOVE
#define BLOCK_XTS_STORE                                                      \
  UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {                      \
    store_block(out + 16 * n * TEAM_LANES, block_xor(blocks[n], tweaks[n])); \
  }
#include "kernels/block/table/xts_tiles.h"

#ifdef BLOCK_ACROSS
// For texts at any address.
#include "kernels/block/across.h"
#define BLOCK_XTS_TILES BLOCK_XTS_NAME(tiles_across)
#define BLOCK_XTS_IS_ALIGNED 1
#define BLOCK_XTS_READ across_read(blocks, BLOCK_TABLE_BLOCKS, in, 0, 16 * tile_slots);
#define BLOCK_XTS_MOVE                                  \
  UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) { \
    blocks[n] = block_xor(blocks[n], tweaks[n]);        \
  }                                                     \
  across_store(out, blocks, BLOCK_TABLE_BLOCKS, plain ? 16 * tile_slots : 0, BLOCK_SCRATCH);
#define BLOCK_XTS_STORE
#include "kernels/block/table/xts_tiles.h"
#endif

#define BLOCK_XTS_PARAMETERS                                                            \
  (GLOBAL const CipherPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *schedules, \
   u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base,                           \
   GLOBAL const u8 *points SHARED_PARAMETER)

KERNEL(BLOCK_XTS_NAME(encrypt), BLOCK_XTS_LANES) BLOCK_XTS_PARAMETERS {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
  BLOCK_XTS_NAME(tiles)
  (pieces, count, tiles, schedules, rounds, in_base, out_base, points, tables, 0);
}

KERNEL(BLOCK_XTS_NAME(decrypt), BLOCK_XTS_LANES) BLOCK_XTS_PARAMETERS {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 1);
  BLOCK_XTS_NAME(tiles)
  (pieces, count, tiles, schedules, rounds, in_base, out_base, points, tables, 1);
}

#ifdef BLOCK_ACROSS
BLOCK_ACROSS_XTS_KERNEL(BLOCK_XTS_NAME(encrypt_across)) BLOCK_XTS_PARAMETERS {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
  BLOCK_XTS_NAME(tiles_across)
  (pieces, count, tiles, schedules, rounds, in_base, out_base, points, tables, 0);
}

BLOCK_ACROSS_XTS_KERNEL(BLOCK_XTS_NAME(decrypt_across)) BLOCK_XTS_PARAMETERS {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 1);
  BLOCK_XTS_NAME(tiles_across)
  (pieces, count, tiles, schedules, rounds, in_base, out_base, points, tables, 1);
}
#endif

#ifdef BLOCK_ACROSS
#include "kernels/block/table/xts_odd.h"
#endif

#undef BLOCK_XTS_PARAMETERS
#undef BLOCK_XTS_NAME
#undef BLOCK_XTS_TWEAK
