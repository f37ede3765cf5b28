// Bitsliced keys, and CBC encryption over bit planes; included by kernels.h for each
// cipher.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/bitslice/planes.h"

// Bitsliced key schedules from plain ones, a lane each. With `streams` 0,
// planes n holds key n in all 32 blocks; otherwise those of pieces 32 * n to
// 32 * n + 31, a block each.
KERNEL(BLOCK_NAME(keys), BLOCK_BITSLICE_LANES)
(GLOBAL const u32 *schedules, GLOBAL u32 *planes, u32 count, u32 rounds, u32 streams,
 GLOBAL const CipherPiece *pieces, u32 piece_count) {
  for (u32 n = group_id() * group_lanes() + lane_id(); n < count;
       n += group_count() * group_lanes()) {
    for (u32 i = 0; i < BLOCK_USED_WORDS(rounds); ++i) {
      u32 words[32];
      UNROLL for (u32 k = 0; k < 32; ++k) {
        const u32 p = 32 * n + k;
        const u32 key = streams == 0 ? n : p < piece_count ? pieces[p].key : 0;
        words[k] = schedules[(u64)key * BLOCK_SCHEDULE_WORDS + i];
      }
      block_transpose(words);
      UNROLL for (u32 k = 0; k < 32; ++k) {
        planes[(u64)n * BLOCK_PLANE_WORDS + 32 * i + k] = words[k];
      }
    }
  }
}

// 32 streams a lane: pieces 32 * n to 32 * n + 31 under planes n. chain as in
// the table form.
KERNEL(BLOCK_NAME(cbc_encrypt), BLOCK_BITSLICE_CHAIN_LANES)
(GLOBAL const CipherPiece *pieces, u32 count, GLOBAL u32 *chain, GLOBAL const u32 *planes,
 u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base) {
  for (u32 n = group_id() * group_lanes() + lane_id(); 32 * n < count;
       n += group_count() * group_lanes()) {
    u32 state[128];
    u64 longest = 0;
    UNROLL for (u32 k = 0; k < 32; ++k) {
      const u32 p = 32 * n + k;
      Block b = {{0, 0, 0, 0}};
      if (p < count) {
        b = pieces[p].continues ? load_block((GLOBAL const u8 *)(chain + (u64)pieces[p].chain * 4))
                                : block_iv(pieces + p);
        longest = pieces[p].length > longest ? pieces[p].length : longest;
      }
      UNROLL for (u32 c = 0; c < 4; ++c) state[32 * c + k] = b.w[c];
    }
    for (u64 at = 0; at < longest; at += 16) {
      UNROLL for (u32 k = 0; k < 32; ++k) {
        const u32 p = 32 * n + k;
        if (p < count && at < pieces[p].length) {
          const Block b = load_part(in_base + pieces[p].in + at, 16, 0);
          UNROLL for (u32 c = 0; c < 4; ++c) state[32 * c + k] ^= b.w[c];
        }
      }
      BLOCK_NAME(planes_cipher)(state, planes + (u64)n * BLOCK_PLANE_WORDS, rounds, 0);
      UNROLL for (u32 k = 0; k < 32; ++k) {
        const u32 p = 32 * n + k;
        if (p < count && at < pieces[p].length) {
          const Block b = {{state[k], state[32 + k], state[64 + k], state[96 + k]}};
          store_part(out_base + pieces[p].out + at, b, 16, 0);
          if (at + 16 >= pieces[p].length)
            store_block((GLOBAL u8 *)(chain + (u64)pieces[p].chain * 4), b);
        }
      }
    }
  }
}
