// CFB and OFB over bit planes; included by kernels.h for each cipher.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/bitslice/planes.h"
#include "kernels/block/streams.h"

// As in the table form; 32 streams a lane, pieces 32 * n to 32 * n + 31 under
// planes n.
KERNEL(BLOCK_NAME(feedback), BLOCK_BITSLICE_CHAIN_LANES)
(GLOBAL const CipherPiece *pieces, u32 count, GLOBAL u32 *chain, GLOBAL const u32 *planes,
 u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base, u32 segment) {
  const u32 whole = segment == 0 || segment == 128;
  for (u32 n = group_id() * group_lanes() + lane_id(); 32 * n < count;
       n += group_count() * group_lanes()) {
    u32 state[128], bits[32];
    u64 longest = 0;
    UNROLL for (u32 k = 0; k < 32; ++k) {
      const u32 p = 32 * n + k;
      Block b = {{0, 0, 0, 0}};
      if (p < count) {
        b = block_chain_start(pieces + p, chain);
        longest = pieces[p].length > longest ? pieces[p].length : longest;
      }
      block_planes_set(state, k, b);
      bits[k] = 0;
    }
    u32 bit = 0;  // CFB1: of the byte at `at`
    for (u64 at = 0; at < longest;) {
      if (!whole) {
        // The register is what has been written, and what was there before.
        UNROLL for (u32 k = 0; k < 32; ++k) {
          const u32 p = 32 * n + k;
          if (p < count && at < pieces[p].length) {
            Block b =
                block_before(block_chain_start(pieces + p, chain), out_base + pieces[p].out, at);
            for (u32 i = bit; i > 0; --i) b = block_shift_in_bit(b, (bits[k] >> (i - 1)) & 1);
            block_planes_set(state, k, b);
          }
        }
      }
      BLOCK_NAME(planes_cipher)(state, planes + (u64)n * BLOCK_PLANE_WORDS, rounds, 0);
      UNROLL for (u32 k = 0; k < 32; ++k) {
        const u32 p = 32 * n + k;
        if (p < count && at < pieces[p].length) {
          GLOBAL const u8 *in = in_base + pieces[p].in;
          GLOBAL u8 *out = out_base + pieces[p].out;
          const u64 left = pieces[p].length - at;
          const Block made = block_planes_get(state, k);
          if (whole) {
            const Block text = block_xor(load_part(in + at, left, 0), made);
            store_part(out + at, text, left, 0);
            if (segment != 0) block_planes_set(state, k, text);
            if (left <= 16)
              store_block((GLOBAL u8 *)(chain + (u64)pieces[p].chain * 4),
                          segment != 0 ? text : made);
          } else {
            if (segment == 8)
              bits[k] = in[at] ^ (made.w[0] & 0xff);
            else
              bits[k] = bits[k] << 1 | (((in[at] >> (7 - bit)) ^ (made.w[0] >> 7)) & 1);
            if (segment == 8 || bit == 7) {
              out[at] = (u8)bits[k];
              if (left == 1)
                store_block((GLOBAL u8 *)(chain + (u64)pieces[p].chain * 4),
                            block_before(block_chain_start(pieces + p, chain), out, at + 1));
            }
          }
        }
      }
      bit = segment == 1 ? (bit + 1) % 8 : 0;
      at += whole ? 16 : bit == 0 ? 1 : 0;
    }
  }
}

// Input and output must not share memory: a lane reads the 16 bytes before its
// own, which another lane may have written.
KERNEL(BLOCK_NAME(cfb_decrypt), BLOCK_BITSLICE_LANES)
(GLOBAL const CipherPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *all_planes, u32 rounds,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base, u32 segment) {
  // Bytes that a lane takes with a block, and how many blocks a byte has.
  const u32 each = segment == 128 ? 16 : 1, shared = segment == 1 ? 8 : 1;
  BLOCK_WALK_TILES {
    BLOCK_WALK_PIECE
    GLOBAL const u32 *planes = all_planes + (u64)piece->key * BLOCK_PLANE_WORDS;
    const u32 aligned = segment == 128 && block_aligned(in, out);
    const u64 length = piece->length;
    const u64 first =
        each * ((tile - piece->first_tile) * (BLOCK_BITSLICE_BLOCKS / shared * TEAM_LANES) +
                lane_id() % TEAM_LANES);
    if (LANES_MAY_REST && first >= length) continue;
    u32 state[128];
    UNROLL for (u32 k = 0; k < 32; ++k) {
      const u64 at = first + (u64)(k / shared) * each * TEAM_LANES;
      Block b = {{0, 0, 0, 0}};
      if (at < length) {
        b = at >= 16 || piece->continues ? load_part(in + at - 16, 16, aligned)
                                         : block_before(block_iv(piece), in, at);
        for (u32 bit = 0; bit < k % shared; ++bit)
          b = block_shift_in_bit(b, (in[at] >> (7 - bit)) & 1);
      }
      block_planes_set(state, k, b);
    }
    BLOCK_NAME(planes_cipher)(state, planes, rounds, 0);
    u32 stream = 0;
    UNROLL for (u32 k = 0; k < 32; ++k) {
      const u64 at = first + (u64)(k / shared) * each * TEAM_LANES;
      if (at < length) {
        const Block made = block_planes_get(state, k);
        if (segment == 1) {
          stream = stream << 1 | ((made.w[0] >> 7) & 1);
          if (k % 8 == 7) out[at] = (u8)(in[at] ^ stream);
        } else {
          const u64 bytes = segment == 128 ? length - at : 1;
          store_part(out + at, block_xor(made, load_part(in + at, bytes, aligned)), bytes, aligned);
        }
      }
    }
  }
}
