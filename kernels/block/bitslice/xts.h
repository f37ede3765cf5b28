// XTS over bit planes; included by kernels.h for each standard that a cipher has, with
// BLOCK_XTS_NAME() and BLOCK_XTS_TWEAK() as in the table form.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/bitslice/planes.h"
#include "kernels/block/xts_tweak.h"

// As in the table form; 32 points a lane, which have one key or few.
KERNEL(BLOCK_XTS_NAME(points), BLOCK_BITSLICE_LANES)
(GLOBAL const CipherPiece *pieces, u32 piece_count, u32 count, GLOBAL const u32 *planes, u32 keys,
 u32 rounds, GLOBAL u8 *points) {
  for (u32 begin = 32 * (group_id() * group_lanes() + lane_id()); begin < count;
       begin += 32 * group_count() * group_lanes()) {
    u32 left = 0;  // a bit for each point that is not made yet
    for (u32 k = 0; k < 32; ++k) left |= begin + k < count ? 1u << k : 0;
    while (left != 0) {
      u32 state[128], key = 0, chosen = 0;
      UNROLL for (u32 k = 0; k < 32; ++k) {
        Block tweak = {{0, 0, 0, 0}};
        if ((left >> k) & 1) {
          GLOBAL const CipherPiece *piece = pieces + xts_find_piece(pieces, piece_count, begin + k);
          if (chosen == 0) key = piece->key;
          if (piece->key == key) {
            chosen |= 1u << k;
            tweak =
                xts_unit_number(block_iv(piece), (begin + k - piece->first_point) /
                                                     xts_points_of_unit(piece->unit_bytes / 16));
          }
        }
        block_planes_set(state, k, tweak);
      }
      BLOCK_NAME(planes_cipher)(state, planes + (u64)(keys + key) * BLOCK_PLANE_WORDS, rounds, 0);
      UNROLL for (u32 k = 0; k < 32; ++k) {
        if ((chosen >> k) & 1) {
          GLOBAL const CipherPiece *piece = pieces + xts_find_piece(pieces, piece_count, begin + k);
          store_block(points + 16 * (u64)(begin + k),
                      xts_jump_stretches(BLOCK_XTS_TWEAK(block_planes_get(state, k)),
                                         (begin + k - piece->first_point) %
                                             xts_points_of_unit(piece->unit_bytes / 16)));
        }
      }
      left &= ~chosen;
    }
  }
}

FN void BLOCK_XTS_NAME(tiles)(GLOBAL const CipherPiece *pieces, u32 count, u64 tiles,
                              GLOBAL const u32 *all_planes, u32 rounds, GLOBAL const u8 *in_base,
                              GLOBAL u8 *out_base, GLOBAL const u8 *points, u32 inverse) {
  BLOCK_WALK_TILES {
    BLOCK_WALK_PIECE
    GLOBAL const u32 *planes = all_planes + (u64)piece->key * BLOCK_PLANE_WORDS;
    const u32 aligned = block_aligned(in, out) && piece->unit_bytes % 16 == 0;
    const u64 slots = piece->slots;
    const u64 first =
        (tile - piece->first_tile) * (BLOCK_BITSLICE_BLOCKS * TEAM_LANES) + lane_id() % TEAM_LANES;
    if (LANES_MAY_REST && first >= slots) continue;
    const XtsPlace start = xts_place(first, piece, points);
    u32 state[128], steals = 0;
    // The second pass is for slots that end in a part of a block alone.
    for (u32 pass = 0; pass < 2; ++pass) {
      XtsPlace place = start;
      UNROLL for (u32 k = 0; k < 32; ++k) {
        if (first + k * TEAM_LANES < slots) {
          const u64 at = (u64)place.unit * piece->unit_bytes + 16 * place.slot;
          const u32 more = xts_slot_bytes(place, piece) - 16;
          if (more != 0) steals = 1;
          Block b = pass == 0 ? load_part(in + at, 16, aligned) : block_planes_get(state, k);
          const Block tweak = BLOCK_XTS_TWEAK(
              more != 0 && pass != inverse ? xts_times_x_below_32(place.tweak, 1) : place.tweak);
          block_planes_set(state, k, block_xor(b, tweak));
        } else {
          const Block none = {{0, 0, 0, 0}};
          block_planes_set(state, k, none);
        }
        place = xts_next(place, piece, points);
      }
      BLOCK_NAME(planes_cipher)(state, planes, rounds, inverse);
      place = start;
      UNROLL for (u32 k = 0; k < 32; ++k) {
        if (first + k * TEAM_LANES < slots) {
          const u64 at = (u64)place.unit * piece->unit_bytes + 16 * place.slot;
          const u32 more = xts_slot_bytes(place, piece) - 16;
          const Block tweak = BLOCK_XTS_TWEAK(
              more != 0 && pass != inverse ? xts_times_x_below_32(place.tweak, 1) : place.tweak);
          Block b = block_xor(block_planes_get(state, k), tweak);
          if (more != 0 && pass == 0) {
            const Block stood = block_load_bytes(in + at + 16, more);
            block_store_bytes(out + at + 16, b, more);
            b = block_join(stood, b, more);
            block_planes_set(state, k, b);
          } else if (more != 0 || pass == 0) {
            store_part(out + at, b, 16, aligned);
          }
        }
        place = xts_next(place, piece, points);
      }
      if (steals == 0) break;
    }
  }
}

#define BLOCK_XTS_PARAMETERS                                                                     \
  (GLOBAL const CipherPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *planes, u32 rounds, \
   GLOBAL const u8 *in_base, GLOBAL u8 *out_base, GLOBAL const u8 *points)

KERNEL(BLOCK_XTS_NAME(encrypt), BLOCK_BITSLICE_LANES) BLOCK_XTS_PARAMETERS {
  BLOCK_XTS_NAME(tiles)(pieces, count, tiles, planes, rounds, in_base, out_base, points, 0);
}

KERNEL(BLOCK_XTS_NAME(decrypt), BLOCK_BITSLICE_LANES) BLOCK_XTS_PARAMETERS {
  BLOCK_XTS_NAME(tiles)(pieces, count, tiles, planes, rounds, in_base, out_base, points, 1);
}

#undef BLOCK_XTS_PARAMETERS
#undef BLOCK_XTS_NAME
#undef BLOCK_XTS_TWEAK
