// XTS of odd data units, which end in a part of a block, so that each begins at an address of its
// own; included by xts.h for the forms whose teams have 32 lanes (BLOCK_ACROSS).
//
// The slots of a piece lie side by side, 16 bytes each, and up to 31 where a unit ends. A lane
// reads the blocks of memory in which its slot lies. It writes those that begin within its slot's
// bytes or right before them, and has the end of the slot before from the lane beside it.
//
// Of a last slot two blocks are enciphered one after the other (IEEE 1619, 5.3.2 and 5.4.2). If it
// waited for the second, the whole team would. So the kernels *_odd do the first, and put where the
// second will be what that is made of; and *_odd_ends, with a lane a unit, make the second of it
// there.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/across.h"
#include "kernels/block/stream_text.h"
#include "kernels/block/table/xts_odd_text.h"

// The tweak of the slot behind one, both as they are added.
FN Block BLOCK_XTS_NAME(tweak_behind)(Block tweak) {
  return BLOCK_XTS_TWEAK(xts_times_x_below_32(BLOCK_XTS_TWEAK(tweak), 1));
}

// As BLOCK_XTS_NAME(tiles).
FN void BLOCK_XTS_NAME(tiles_odd)(GLOBAL const CipherPiece *pieces, u32 count, u64 tiles,
                                  GLOBAL const u32 *schedules, u32 rounds, GLOBAL const u8 *in_base,
                                  GLOBAL u8 *out_base, GLOBAL const u8 *points, SHARED u32 *tables,
                                  u32 inverse) {
  const u32 lane = lane_id() % TEAM_LANES;
  u32 trips = block_trips(tiles);
  u64 tile = (u64)block_team_of(tiles) * trips;
  if (tile >= tiles) return;
  u32 p = ~0u;  // the piece before the first
  XtsPlace place = {0, 0, {{0, 0, 0, 0}}};
  ROLLED for (; trips != 0; --trips, ++tile) {
    const u32 before = p;
    p = block_next_piece(pieces, count, p, tile);
    GLOBAL const CipherPiece *piece = pieces + p;
    const u64 start = (tile - piece->first_tile) * XTS_TILE_SLOTS;
    // The piece's slots from the tile's first on: at most one more than a tile has.
    u32 left = 0;
    if (tile < tiles) {
      const u64 behind = piece->slots - start;
      left = behind > XTS_TILE_SLOTS ? XTS_TILE_SLOTS + 1 : (u32)behind;
      if (p != before) place = xts_place(start + lane, piece, points);
    }
    const u32 first_unit = word_of_lane(place.unit, 0, BLOCK_SCRATCH);
    u64 at = 16 * start + (u64)first_unit * (piece->unit_bytes % 16);
    XtsOddSlots slots = xts_odd_slots(place, first_unit, left, piece, (u32)(piece->length - at));

    Block blocks[BLOCK_TABLE_BLOCKS], tweaks[BLOCK_TABLE_BLOCKS];
    xts_odd_read(blocks, in_base + (piece->in + at), slots, left);
    if (left != 0) {
      const u32 stays = place.slot + XTS_TILE_SLOTS < piece->unit_bytes / 16;
      place = xts_tweaks(tweaks, BLOCK_TABLE_BLOCKS, place, stays, piece, points);
    } else {
      UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) tweaks[n] = place.tweak;
    }
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
      tweaks[n] = BLOCK_XTS_TWEAK(tweaks[n]);
      if (inverse && xts_odd_more(slots, n) != 0)
        tweaks[n] = BLOCK_XTS_NAME(tweak_behind)(tweaks[n]);
    }
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) blocks[n] = block_xor(blocks[n], tweaks[n]);
    GLOBAL const u32 *schedule = schedules + (u64)piece->key * BLOCK_SCHEDULE_WORDS;
    BLOCK_XTS_NAME(cipher)(blocks, BLOCK_TABLE_BLOCKS, tables, schedule, rounds, inverse);

    at = (u64)xts_odd_again((u32)(at >> 32), BLOCK_SCRATCH) << 32 |
         xts_odd_again((u32)at, BLOCK_SCRATCH);
    UNROLL for (u32 i = 0; i < BLOCK_TABLE_BLOCKS / 2; ++i) {
      slots.pairs[i] = xts_odd_again(slots.pairs[i], BLOCK_SCRATCH);
    }
    GLOBAL const u8 *in = in_base + (piece->in + at);
    GLOBAL u8 *out = out_base + (piece->out + at);
    XtsOddMoved moved = {{{0, 0, 0, 0}}, {{0, 0, 0, 0}}, 0};
    Block before_each[BLOCK_TABLE_BLOCKS];
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
      const Block made = block_xor(blocks[n], tweaks[n]);
      Block head = made, tail = made;
      const u32 more = xts_odd_more(slots, n);
      if (more != 0) {
        // What was made goes behind, the first bytes of it, and takes what stood there.
        head = block_join(xts_odd_bytes(in + xts_odd_at(slots, n) + 16, more), made, more);
        // No plaintext lies in the output meanwhile.
        if (!inverse) head = block_xor(head, BLOCK_XTS_NAME(tweak_behind)(tweaks[n]));
        tail = stream_join(head, made, more);
        GLOBAL u8 *to = out + xts_odd_at(slots, n);
        const u32 skew = across_skew(to);
        if (skew + more >= 16) store_block(to - skew + 16, stream_join(head, made, 16 - skew));
      }
      blocks[n] = head;
      before_each[n] = xts_odd_move(&moved, n, tail, slots, left, BLOCK_SCRATCH);
    }
    xts_odd_join(before_each, blocks, out, slots, 1);
    xts_odd_write(out, before_each, &moved, slots, left, BLOCK_SCRATCH);
  }
}

BLOCK_ACROSS_XTS_KERNEL(BLOCK_XTS_NAME(encrypt_odd)) BLOCK_XTS_PARAMETERS {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
  BLOCK_XTS_NAME(tiles_odd)
  (pieces, count, tiles, schedules, rounds, in_base, out_base, points, tables, 0);
}

BLOCK_ACROSS_XTS_KERNEL(BLOCK_XTS_NAME(decrypt_odd)) BLOCK_XTS_PARAMETERS {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 1);
  BLOCK_XTS_NAME(tiles_odd)
  (pieces, count, tiles, schedules, rounds, in_base, out_base, points, tables, 1);
}

// A lane a point; of those of a unit the last has its end. All lanes encipher, as in tiles_odd.
FN void BLOCK_XTS_NAME(ends)(GLOBAL const CipherPiece *pieces, u32 piece_count, u32 count,
                             GLOBAL const u32 *schedules, u32 rounds, GLOBAL u8 *out_base,
                             GLOBAL const u8 *points, SHARED u32 *tables, u32 inverse) {
  const u32 lanes = group_count() * group_lanes();
  ROLLED for (u32 begin = 0; begin < count; begin += lanes) {
    const u32 own = begin + group_id() * group_lanes() + lane_id(), n = own < count ? own : 0;
    GLOBAL const CipherPiece *piece = pieces + xts_find_piece(pieces, piece_count, n);
    const XtsOddEnd end = xts_odd_end(piece, n);
    const u32 is_mine = own < count && end.is_there;
    GLOBAL u8 *to = out_base + piece->out + end.at;
    Block tweak = xts_jump(load_block(points + 16 * (u64)n), end.slot % XTS_STRETCH);
    // Encryption has the tweak behind the slot's own in its second block, decryption in its first.
    if (!inverse) tweak = xts_times_x_below_32(tweak, 1);
    tweak = BLOCK_XTS_TWEAK(tweak);
    Block block = tweak;
    if (is_mine) block = xts_odd_bytes(to, 16);
    if (inverse) block = block_xor(block, tweak);
    GLOBAL const u32 *schedule = schedules + (u64)piece->key * BLOCK_SCHEDULE_WORDS;
    BLOCK_XTS_NAME(cipher)(&block, 1, tables, schedule, rounds, inverse);
    if (is_mine) xts_odd_put(to, block_xor(block, tweak), end.is_alone);
  }
}

#define BLOCK_XTS_END_PARAMETERS                                                              \
  (GLOBAL const CipherPiece *pieces, u32 piece_count, u32 count, GLOBAL const u32 *schedules, \
   u32 rounds, GLOBAL u8 *out_base, GLOBAL const u8 *points SHARED_PARAMETER)

KERNEL(BLOCK_XTS_NAME(encrypt_odd_ends), BLOCK_LANES) BLOCK_XTS_END_PARAMETERS {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
  BLOCK_XTS_NAME(ends)
  (pieces, piece_count, count, schedules, rounds, out_base, points, tables, 0);
}

KERNEL(BLOCK_XTS_NAME(decrypt_odd_ends), BLOCK_LANES) BLOCK_XTS_END_PARAMETERS {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 1);
  BLOCK_XTS_NAME(ends)
  (pieces, piece_count, count, schedules, rounds, out_base, points, tables, 1);
}

#undef BLOCK_XTS_END_PARAMETERS
