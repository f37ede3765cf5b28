// XTS over the tables of aes_table.h, which includes this for each form.
//
// SPDX-License-Identifier: Apache-2.0

#include "xts_tweak.h"

// The points of all pieces, `count` of them, a lane each. The schedules of the
// tweaks' keys come `keys` after those of the data's.
KERNEL(AES_NAME(xts_points), AES_LANES)
(GLOBAL const AesPiece *pieces, u32 piece_count, u32 count, GLOBAL const u32 *schedules, u32 keys,
 u32 rounds, GLOBAL u8 *points SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  AES_NAME(fill)(tables, 0);
  for (u32 n = group_id() * group_lanes() + lane_id(); n < count;
       n += group_count() * group_lanes()) {
    GLOBAL const AesPiece *piece = pieces + xts_find_piece(pieces, piece_count, n);
    const u32 each = xts_points_of_unit(piece->unit_bytes / 16);
    const u32 unit = (n - piece->first_point) / each, stretch = (n - piece->first_point) % each;
    Block tweak = xts_unit_number(aes_iv(piece), unit);
    AES_NAME(encrypt)
    (&tweak, 1, tables, schedules + (u64)(keys + piece->key) * AES_SCHEDULE_WORDS, rounds);
    store_block(points + 16 * (u64)n, xts_jump_stretches(tweak, stretch));
  }
}

FN void AES_NAME(xts_cipher)(Block *blocks, u32 count, SHARED const u32 *tables,
                             GLOBAL const u32 *schedule, u32 rounds, u32 inverse) {
  if (inverse)
    AES_NAME(decrypt)(blocks, count, tables, schedule, rounds);
  else
    AES_NAME(encrypt)(blocks, count, tables, schedule, rounds);
}

// One slot at any alignment, with ciphertext stealing where it ends its unit.
FN void AES_NAME(xts_slot)(XtsPlace place, GLOBAL const AesPiece *piece, GLOBAL const u8 *in,
                           GLOBAL u8 *out, SHARED const u32 *tables, GLOBAL const u32 *schedule,
                           u32 rounds, u32 inverse) {
  const u64 at = (u64)place.unit * piece->unit_bytes + 16 * place.slot;
  const u32 more = xts_slot_bytes(place, piece) - 16;
  const Block after = xts_times_x_below_32(place.tweak, 1);
  Block block = aes_load_bytes(in + at, 16);
  for (u32 pass = 0;; ++pass) {
    const Block tweak = more != 0 && pass != inverse ? after : place.tweak;
    block = aes_xor(block, tweak);
    AES_NAME(xts_cipher)(&block, 1, tables, schedule, rounds, inverse);
    block = aes_xor(block, tweak);
    if (more == 0 || pass == 1) break;
    const Block stood = aes_load_bytes(in + at + 16, more);
    aes_store_bytes(out + at + 16, block, more);
    block = xts_steal(stood, block, more);
  }
  aes_store_bytes(out + at, block, 16);
}

// How many of `tiles` from tile number `tile` of a piece on can be read and
// written 16 bytes at a time without a look at ends: slots lie side by side
// where units are whole blocks or there is one, and a part of a block is in the
// last tile.
FN u32 AES_NAME(xts_plain_tiles)(GLOBAL const AesPiece *piece, u64 tile, u32 tiles, u32 aligned) {
  const u64 slots = piece->slots;
  const u32 straight = piece->unit_bytes % 16 == 0 || slots == piece->unit_bytes / 16;
  if (!straight || !aligned) return 0;
  const u64 plain = (slots - (piece->length % 16 != 0 ? 1 : 0)) / (AES_TABLE_BLOCKS * TEAM_LANES);
  if (plain <= tile) return 0;
  return plain - tile < tiles ? (u32)(plain - tile) : tiles;
}

FN void AES_NAME(xts)(GLOBAL const AesPiece *pieces, u32 count, u64 tiles,
                      GLOBAL const u32 *schedules, u32 rounds, GLOBAL const u8 *in_base,
                      GLOBAL u8 *out_base, GLOBAL const u8 *points, SHARED const u32 *tables,
                      u32 inverse) {
  const u32 team = aes_team();
  const u64 end_tile = aes_first_tile(tiles, team + 1);
  u64 tile = aes_first_tile(tiles, team);
  if (tile >= end_tile) return;
  u32 p = aes_find_piece(pieces, count, tile);
  while (tile < end_tile) {
    while (p + 1 < count && pieces[p + 1].first_tile <= tile) ++p;
    GLOBAL const AesPiece *piece = pieces + p;
    u64 end = p + 1 < count ? pieces[p + 1].first_tile : tiles;
    if (end > end_tile) end = end_tile;
    const u64 number = tile - piece->first_tile;
    u64 first = number * (AES_TABLE_BLOCKS * TEAM_LANES) + lane_id() % TEAM_LANES;
    GLOBAL const u8 *in = in_base + piece->in;
    GLOBAL u8 *out = out_base + piece->out;
    GLOBAL const u32 *schedule = schedules + (u64)piece->key * AES_SCHEDULE_WORDS;
    u32 left = (u32)(end - tile);
    u32 plain = AES_NAME(xts_plain_tiles)(piece, number, left, aes_aligned(in, out));
    tile = end;
    left -= plain;
    XtsPlace place = xts_place(first, piece, points);
    GLOBAL const u8 *from = in + 16 * first;
    GLOBAL u8 *to = out + 16 * first;
    first += (u64)plain * (AES_TABLE_BLOCKS * TEAM_LANES);
    for (; plain > 0; --plain) {
      // The tweaks are stepped through twice: kept, they would not fit into
      // registers.
      Block blocks[AES_TABLE_BLOCKS];
      XtsPlace start = place;
      UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) {
        blocks[n] = aes_xor(load_block(from + 16 * n * TEAM_LANES), start.tweak);
        if (n + 1 < AES_TABLE_BLOCKS) start = xts_next(start, piece, points);
      }
      AES_NAME(xts_cipher)(blocks, AES_TABLE_BLOCKS, tables, schedule, rounds, inverse);
      UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) {
        store_block(to + 16 * n * TEAM_LANES, aes_xor(blocks[n], place.tweak));
        place = xts_next(place, piece, points);
      }
      from += 16 * AES_TABLE_BLOCKS * TEAM_LANES;
      to += 16 * AES_TABLE_BLOCKS * TEAM_LANES;
    }
    for (u32 n = 0; n < left * AES_TABLE_BLOCKS; ++n) {
      if (first < piece->slots)
        AES_NAME(xts_slot)(place, piece, in, out, tables, schedule, rounds, inverse);
      place = xts_next(place, piece, points);
      first += TEAM_LANES;
    }
  }
}

#define AES_XTS_PARAMETERS                                                                       \
  (GLOBAL const AesPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *schedules, u32 rounds, \
   GLOBAL const u8 *in_base, GLOBAL u8 *out_base, GLOBAL const u8 *points SHARED_PARAMETER)

KERNEL(AES_NAME(xts_encrypt), AES_LANES) AES_XTS_PARAMETERS {
  SHARED_WORDS(tables);
  AES_NAME(fill)(tables, 0);
  AES_NAME(xts)(pieces, count, tiles, schedules, rounds, in_base, out_base, points, tables, 0);
}

KERNEL(AES_NAME(xts_decrypt), AES_LANES) AES_XTS_PARAMETERS {
  SHARED_WORDS(tables);
  AES_NAME(fill)(tables, 1);
  AES_NAME(xts)(pieces, count, tiles, schedules, rounds, in_base, out_base, points, tables, 1);
}

#undef AES_XTS_PARAMETERS
