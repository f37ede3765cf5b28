// CFB and OFB over bit planes; included by kernels.h for each cipher.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/bitslice/planes.h"
#include "kernels/block/streams.h"

// As in the table form; 32 streams a lane, pieces 32 * n to 32 * n + 31 under
// planes n.
KERNEL(BLOCK_NAME(feedback), BLOCK_BITSLICE_CHAIN_LANES)
(GLOBAL const CipherPiece *pieces, u32 count, GLOBAL u32 *chain, GLOBAL const u32 *planes,
 u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base, u32 is_ofb) {
  for (u32 n = group_id() * group_lanes() + lane_id(); 32 * n < count;
       n += group_count() * group_lanes()) {
    u32 state[128];
    u64 longest = 0;
    UNROLL for (u32 k = 0; k < 32; ++k) {
      const u32 p = 32 * n + k;
      Block b = {{0, 0, 0, 0}};
      if (p < count) {
        b = block_chain_start(pieces + p, chain);
        longest = pieces[p].length > longest ? pieces[p].length : longest;
      }
      block_planes_set(state, k, b);
    }
    for (u64 at = 0; at < longest; at += 16) {
      BLOCK_NAME(planes_cipher)(state, planes + (u64)n * BLOCK_PLANE_WORDS, rounds, 0);
      UNROLL for (u32 k = 0; k < 32; ++k) {
        const u32 p = 32 * n + k;
        if (p < count && at < pieces[p].length) {
          const u64 left = pieces[p].length - at;
          const Block made = block_planes_get(state, k);
          const Block text = block_xor(load_part(in_base + pieces[p].in + at, left, 0), made);
          store_part(out_base + pieces[p].out + at, text, left, 0);
          if (!is_ofb) block_planes_set(state, k, text);
          if (left <= 16)
            store_block((GLOBAL u8 *)(chain + (u64)pieces[p].chain * 4), is_ofb ? made : text);
        }
      }
    }
  }
}

// Input and output must not share memory: a lane reads the 16 bytes before its
// own, which another lane may have written.
KERNEL(BLOCK_NAME(cfb_decrypt), BLOCK_BITSLICE_LANES)
(GLOBAL const CipherPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *all_planes, u32 rounds,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base) {
  BLOCK_WALK_TILES {
    BLOCK_WALK_PIECE
    GLOBAL const u32 *planes = all_planes + (u64)piece->key * BLOCK_PLANE_WORDS;
    const u32 aligned = block_aligned(in, out);
    const u64 length = piece->length;
    const u64 first = 16 * ((tile - piece->first_tile) * (BLOCK_BITSLICE_BLOCKS * TEAM_LANES) +
                            lane_id() % TEAM_LANES);
    if (LANES_MAY_REST && first >= length) continue;
    u32 state[128];
    UNROLL for (u32 k = 0; k < 32; ++k) {
      const u64 at = first + (u64)k * 16 * TEAM_LANES;
      Block b = {{0, 0, 0, 0}};
      if (at < length)
        b = at != 0 || piece->continues ? load_part(in + at - 16, 16, aligned) : block_iv(piece);
      block_planes_set(state, k, b);
    }
    BLOCK_NAME(planes_cipher)(state, planes, rounds, 0);
    UNROLL for (u32 k = 0; k < 32; ++k) {
      const u64 at = first + (u64)k * 16 * TEAM_LANES;
      if (at < length) {
        const Block made = block_planes_get(state, k);
        store_part(out + at, block_xor(made, load_part(in + at, length - at, aligned)), length - at,
                   aligned);
      }
    }
  }
}
