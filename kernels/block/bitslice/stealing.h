// Ciphertext stealing over bit planes; included by kernels.h for each cipher that has it.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/bitslice/planes.h"
#include "kernels/block/streams.h"

// As in the table form; 32 messages a lane.
KERNEL(BLOCK_NAME(steal_encrypt), BLOCK_BITSLICE_CHAIN_LANES)
(GLOBAL const CipherPiece *pieces, u32 count, GLOBAL const u32 *chain, GLOBAL const u32 *planes,
 u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base) {
  for (u32 n = group_id() * group_lanes() + lane_id(); 32 * n < count;
       n += group_count() * group_lanes()) {
    u32 state[128];
    for (u32 pass = 0; pass < 2; ++pass) {
      UNROLL for (u32 k = 0; k < 32; ++k) {
        const u32 p = 32 * n + k;
        if (pass == 0) {
          Block b = {{0, 0, 0, 0}};
          if (p < count && pieces[p].tail_bytes != 0) {
            const Block before =
                pieces[p].length == 0
                    ? block_chain_start(pieces + p, chain)
                    : load_block((GLOBAL const u8 *)(chain + (u64)pieces[p].chain * 4));
            b = block_xor(before, block_load_bytes(in_base + pieces[p].in + pieces[p].length, 16));
          }
          block_planes_set(state, k, b);
        } else if (p < count && pieces[p].tail_bytes != 0) {
          const u32 part = pieces[p].tail_bytes - 16;
          const Block y = block_planes_get(state, k);
          const Block last = block_load_bytes(in_base + pieces[p].in + pieces[p].length + 16, part);
          block_store_bytes(
              out_base + pieces[p].out + pieces[p].length + block_stolen_y(pieces + p), y, part);
          block_planes_set(state, k, block_xor(y, last));
        }
      }
      BLOCK_NAME(planes_cipher)(state, planes + (u64)n * BLOCK_PLANE_WORDS, rounds, 0);
    }
    UNROLL for (u32 k = 0; k < 32; ++k) {
      const u32 p = 32 * n + k;
      if (p < count && pieces[p].tail_bytes != 0)
        block_store_bytes(out_base + pieces[p].out + pieces[p].length + block_stolen_x(pieces + p),
                          block_planes_get(state, k), 16);
    }
  }
}

KERNEL(BLOCK_NAME(steal_decrypt), BLOCK_BITSLICE_CHAIN_LANES)
(GLOBAL const CipherPiece *pieces, u32 count, GLOBAL const u32 *planes, u32 rounds,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base) {
  for (u32 n = group_id() * group_lanes() + lane_id(); 32 * n < count;
       n += group_count() * group_lanes()) {
    u32 state[128];
    for (u32 pass = 0; pass < 2; ++pass) {
      UNROLL for (u32 k = 0; k < 32; ++k) {
        const u32 p = 32 * n + k;
        Block b = {{0, 0, 0, 0}};
        if (p < count && pieces[p].tail_bytes != 0) {
          GLOBAL const u8 *in = in_base + pieces[p].in + pieces[p].length;
          const u32 part = pieces[p].tail_bytes - 16;
          if (pass == 0) {
            b = block_load_bytes(in + block_stolen_x(pieces + p), 16);
          } else {
            const Block x = block_planes_get(state, k);
            const Block y = block_load_bytes(in + block_stolen_y(pieces + p), part);
            block_store_bytes(out_base + pieces[p].out + pieces[p].length + 16, block_xor(x, y),
                              part);
            b = block_join(y, x, part);
          }
        }
        block_planes_set(state, k, b);
      }
      BLOCK_NAME(planes_cipher)(state, planes + (u64)n * BLOCK_PLANE_WORDS, rounds, 1);
    }
    UNROLL for (u32 k = 0; k < 32; ++k) {
      const u32 p = 32 * n + k;
      if (p < count && pieces[p].tail_bytes != 0) {
        GLOBAL const u8 *in = in_base + pieces[p].in + pieces[p].length;
        const Block before = pieces[p].length == 0 && !pieces[p].continues
                                 ? block_iv(pieces + p)
                                 : block_load_bytes(in - 16, 16);
        block_store_bytes(out_base + pieces[p].out + pieces[p].length,
                          block_xor(block_planes_get(state, k), before), 16);
      }
    }
  }
}
