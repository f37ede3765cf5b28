// CCM over bit planes; included by kernels.h for each cipher.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/bitslice/planes.h"
#include "kernels/block/ccm.h"

// As in the table form; 32 streams a lane, pieces 32 * n to 32 * n + 31 under
// planes n. Keystream and MAC take the planes in turn; the MACs stay in `chain`.
KERNEL(BLOCK_NAME(ccm), BLOCK_BITSLICE_CHAIN_LANES)
(GLOBAL const CipherPiece *pieces, u32 count, GLOBAL u32 *chain, GLOBAL const u32 *all_planes,
 u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base, GLOBAL const CcmStream *streams,
 GLOBAL const u8 *headers, GLOBAL u32 *results, u32 opens) {
  for (u32 n = group_id() * group_lanes() + lane_id(); 32 * n < count;
       n += group_count() * group_lanes()) {
    GLOBAL const u32 *planes = all_planes + (u64)n * BLOCK_PLANE_WORDS;
    const u32 own = count - 32 * n < 32 ? count - 32 * n : 32;
    u32 state[128];
    u64 longest = 0;
    for (u32 k = 0; k < own; ++k) {
      const u32 p = 32 * n + k;
      const u64 bytes = streams[p].header_bytes + pieces[p].length;
      longest = bytes > longest ? bytes : longest;
      store_block((GLOBAL u8 *)(chain + (u64)pieces[p].chain * 4),
                  block_chain_start(pieces + p, chain));
    }
    // `at` counts from the start of the headers; behind the end of the longest
    // stream comes the mask of all tags.
    for (u64 at = 0; at < longest + 16; at += 16) {
      const u32 is_mask = at >= longest;
      u32 has_text = 0;
      UNROLL for (u32 k = 0; k < 32; ++k) {
        const u32 p = 32 * n + k;
        Block b = {{0, 0, 0, 0}};
        if (k < own && is_mask) b = block_ccm_counter(streams + p, 0);
        if (k < own && !is_mask && at >= streams[p].header_bytes) {
          b = block_ccm_next(streams + p, at - streams[p].header_bytes, pieces[p].length);
          has_text = 1;
        }
        block_planes_set(state, k, b);
      }
      if (is_mask || has_text) BLOCK_NAME(planes_cipher)(state, planes, rounds, 0);
      UNROLL for (u32 k = 0; k < 32; ++k) {
        const u32 p = 32 * n + k;
        if (k < own) {
          GLOBAL const u8 *link = (GLOBAL const u8 *)(chain + (u64)pieces[p].chain * 4);
          const u64 header_bytes = streams[p].header_bytes, length = pieces[p].length;
          Block mac = load_block(link);
          if (is_mask) {
            if (streams[p].ends) mac = block_xor(mac, block_planes_get(state, k));
            store_block((GLOBAL u8 *)(results + 4 * (u64)streams[p].result), mac);
          } else if (at < header_bytes) {
            mac = block_xor(mac, load_block(headers + streams[p].header + at));
          } else if (at - header_bytes < length) {
            mac = block_xor(mac, block_ccm_text(in_base + pieces[p].in, out_base + pieces[p].out,
                                                at - header_bytes, length, 0,
                                                block_planes_get(state, k), opens));
          }
          block_planes_set(state, k, mac);
        }
      }
      if (is_mask) continue;
      BLOCK_NAME(planes_cipher)(state, planes, rounds, 0);
      UNROLL for (u32 k = 0; k < 32; ++k) {
        const u32 p = 32 * n + k;
        if (k < own && at < streams[p].header_bytes + pieces[p].length)
          store_block((GLOBAL u8 *)(chain + (u64)pieces[p].chain * 4), block_planes_get(state, k));
      }
    }
  }
}
