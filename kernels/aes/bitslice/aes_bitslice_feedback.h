// CFB, OFB and ciphertext stealing over the bit planes of aes_bitslice.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aes_bitslice.h"
#include "kernels/aes/aes_streams.h"

FN Block aes_chain_start(GLOBAL const AesPiece *piece, GLOBAL const u32 *chain) {
  return piece->continues ? load_block((GLOBAL const u8 *)(chain + (u64)piece->chain * 4))
                          : aes_iv(piece);
}

// As in the table form; 32 streams a lane, pieces 32 * n to 32 * n + 31 under
// planes n.
KERNEL(aes_bitslice_feedback, AES_BITSLICE_CHAIN_LANES)
(GLOBAL const AesPiece *pieces, u32 count, GLOBAL u32 *chain, GLOBAL const u32 *planes, u32 rounds,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base, u32 segment) {
  const u32 whole = segment == 0 || segment == 128;
  for (u32 n = group_id() * group_lanes() + lane_id(); 32 * n < count;
       n += group_count() * group_lanes()) {
    u32 state[128], bits[32];
    u64 longest = 0;
    UNROLL for (u32 k = 0; k < 32; ++k) {
      const u32 p = 32 * n + k;
      Block b = {{0, 0, 0, 0}};
      if (p < count) {
        b = aes_chain_start(pieces + p, chain);
        longest = pieces[p].length > longest ? pieces[p].length : longest;
      }
      aes_planes_set(state, k, b);
      bits[k] = 0;
    }
    u32 bit = 0;  // CFB1: of the byte at `at`
    for (u64 at = 0; at < longest;) {
      if (!whole) {
        // The register is what has been written, and what was there before.
        UNROLL for (u32 k = 0; k < 32; ++k) {
          const u32 p = 32 * n + k;
          if (p < count && at < pieces[p].length) {
            Block b = aes_before(aes_chain_start(pieces + p, chain), out_base + pieces[p].out, at);
            for (u32 i = bit; i > 0; --i) b = aes_shift_in_bit(b, (bits[k] >> (i - 1)) & 1);
            aes_planes_set(state, k, b);
          }
        }
      }
      aes_planes_cipher(state, planes + (u64)n * AES_PLANE_WORDS, rounds, 0);
      UNROLL for (u32 k = 0; k < 32; ++k) {
        const u32 p = 32 * n + k;
        if (p < count && at < pieces[p].length) {
          GLOBAL const u8 *in = in_base + pieces[p].in;
          GLOBAL u8 *out = out_base + pieces[p].out;
          const u64 left = pieces[p].length - at;
          const Block made = aes_planes_get(state, k);
          if (whole) {
            const Block text = aes_xor(aes_load(in + at, left, 0), made);
            aes_store(out + at, text, left, 0);
            if (segment != 0) aes_planes_set(state, k, text);
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
                            aes_before(aes_chain_start(pieces + p, chain), out, at + 1));
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
KERNEL(aes_bitslice_cfb_decrypt, AES_BITSLICE_LANES)
(GLOBAL const AesPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *all_planes, u32 rounds,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base, u32 segment) {
  // Bytes that a lane takes with a block, and how many blocks a byte has.
  const u32 each = segment == 128 ? 16 : 1, shared = segment == 1 ? 8 : 1;
  AES_WALK_TILES {
    AES_WALK_PIECE
    GLOBAL const u32 *planes = all_planes + (u64)piece->key * AES_PLANE_WORDS;
    const u32 aligned = segment == 128 && aes_aligned(in, out);
    const u64 length = piece->length;
    const u64 first =
        each * ((tile - piece->first_tile) * (AES_BITSLICE_BLOCKS / shared * TEAM_LANES) +
                lane_id() % TEAM_LANES);
    u32 state[128];
    UNROLL for (u32 k = 0; k < 32; ++k) {
      const u64 at = first + (u64)(k / shared) * each * TEAM_LANES;
      Block b = {{0, 0, 0, 0}};
      if (at < length) {
        b = at >= 16 || piece->continues ? aes_load(in + at - 16, 16, aligned)
                                         : aes_before(aes_iv(piece), in, at);
        for (u32 bit = 0; bit < k % shared; ++bit)
          b = aes_shift_in_bit(b, (in[at] >> (7 - bit)) & 1);
      }
      aes_planes_set(state, k, b);
    }
    aes_planes_cipher(state, planes, rounds, 0);
    u32 stream = 0;
    UNROLL for (u32 k = 0; k < 32; ++k) {
      const u64 at = first + (u64)(k / shared) * each * TEAM_LANES;
      if (at < length) {
        const Block made = aes_planes_get(state, k);
        if (segment == 1) {
          stream = stream << 1 | ((made.w[0] >> 7) & 1);
          if (k % 8 == 7) out[at] = (u8)(in[at] ^ stream);
        } else {
          const u64 bytes = segment == 128 ? length - at : 1;
          aes_store(out + at, aes_xor(made, aes_load(in + at, bytes, aligned)), bytes, aligned);
        }
      }
    }
  }
}

// As in the table form; 32 messages a lane.
KERNEL(aes_bitslice_steal_encrypt, AES_BITSLICE_CHAIN_LANES)
(GLOBAL const AesPiece *pieces, u32 count, GLOBAL const u32 *chain, GLOBAL const u32 *planes,
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
                    ? aes_chain_start(pieces + p, chain)
                    : load_block((GLOBAL const u8 *)(chain + (u64)pieces[p].chain * 4));
            b = aes_xor(before, aes_load_bytes(in_base + pieces[p].in + pieces[p].length, 16));
          }
          aes_planes_set(state, k, b);
        } else if (p < count && pieces[p].tail_bytes != 0) {
          const u32 part = pieces[p].tail_bytes - 16;
          const Block y = aes_planes_get(state, k);
          const Block last = aes_load_bytes(in_base + pieces[p].in + pieces[p].length + 16, part);
          aes_store_bytes(out_base + pieces[p].out + pieces[p].length + aes_stolen_y(pieces + p), y,
                          part);
          aes_planes_set(state, k, aes_xor(y, last));
        }
      }
      aes_planes_cipher(state, planes + (u64)n * AES_PLANE_WORDS, rounds, 0);
    }
    UNROLL for (u32 k = 0; k < 32; ++k) {
      const u32 p = 32 * n + k;
      if (p < count && pieces[p].tail_bytes != 0)
        aes_store_bytes(out_base + pieces[p].out + pieces[p].length + aes_stolen_x(pieces + p),
                        aes_planes_get(state, k), 16);
    }
  }
}

KERNEL(aes_bitslice_steal_decrypt, AES_BITSLICE_CHAIN_LANES)
(GLOBAL const AesPiece *pieces, u32 count, GLOBAL const u32 *planes, u32 rounds,
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
            b = aes_load_bytes(in + aes_stolen_x(pieces + p), 16);
          } else {
            const Block x = aes_planes_get(state, k);
            const Block y = aes_load_bytes(in + aes_stolen_y(pieces + p), part);
            aes_store_bytes(out_base + pieces[p].out + pieces[p].length + 16, aes_xor(x, y), part);
            b = aes_join(y, x, part);
          }
        }
        aes_planes_set(state, k, b);
      }
      aes_planes_cipher(state, planes + (u64)n * AES_PLANE_WORDS, rounds, 1);
    }
    UNROLL for (u32 k = 0; k < 32; ++k) {
      const u32 p = 32 * n + k;
      if (p < count && pieces[p].tail_bytes != 0) {
        GLOBAL const u8 *in = in_base + pieces[p].in + pieces[p].length;
        const Block before = pieces[p].length == 0 && !pieces[p].continues
                                 ? aes_iv(pieces + p)
                                 : aes_load_bytes(in - 16, 16);
        aes_store_bytes(out_base + pieces[p].out + pieces[p].length,
                        aes_xor(aes_planes_get(state, k), before), 16);
      }
    }
  }
}
