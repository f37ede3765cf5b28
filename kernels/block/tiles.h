// How the blocks of many pieces are distributed among threads, and how blocks are loaded and stored
// at any alignment. Common to all block ciphers and forms.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/ciphers.h"
#include "kernels/block/layout.h"
#include "kernels/block/names.h"

// Defines a binary search for the piece that contains a tile, or a point of XTS: the last piece
// that begins at or before it.
#define BLOCK_FIND_PIECE(name, type, first_place)                         \
  FN u32 name(GLOBAL const CipherPiece *pieces, u32 count, type sought) { \
    u32 low = 0, high = count;                                            \
    while (high - low > 1) {                                              \
      const u32 middle = low + (high - low) / 2;                          \
      if (pieces[middle].first_place <= sought)                           \
        low = middle;                                                     \
      else                                                                \
        high = middle;                                                    \
    }                                                                     \
    return low;                                                           \
  }
BLOCK_FIND_PIECE(block_find_piece, u64, first_tile)
BLOCK_FIND_PIECE(xts_find_piece, u32, first_point)

// Returns the first tile of a warp, in kernels in which each warp processes consecutive tiles: warp
// n takes tiles [block_first_tile(tiles, n), block_first_tile(tiles, n + 1)).
FN u64 block_first_tile(u64 tiles, u32 warp) {
  const u32 warps = thread_block_count() * (thread_block_size() / WARP_THREADS);
  return tiles * warp / warps;
}

// The loop over a warp's tiles in such a kernel. BLOCK_WALK_PIECE, its first line, finds the piece
// of the tile.
#define BLOCK_WALK_TILES                                               \
  const u32 warp = block_warp();                                       \
  const u64 end_tile = block_first_tile(tiles, warp + 1);              \
  u64 tile = block_first_tile(tiles, warp);                            \
  u32 p = tile < end_tile ? block_find_piece(pieces, count, tile) : 0; \
  for (; tile < end_tile; ++tile)

#define BLOCK_WALK_PIECE                                         \
  while (p + 1 < count && pieces[p + 1].first_tile <= tile) ++p; \
  GLOBAL const CipherPiece *piece = pieces + p;                  \
  GLOBAL const u8 *in = in_base + piece->in;                     \
  GLOBAL u8 *out = out_base + piece->out;

// In the other kernels, neighbouring warps take neighbouring tiles, whose memory is contiguous.
// Every warp makes the same number of trips, so that all threads always run the same code; trips
// past the last tile do nothing.
FN u32 block_warps(void) { return thread_block_count() * (thread_block_size() / WARP_THREADS); }

FN u32 block_trips(u64 tiles) { return (u32)((tiles + block_warps() - 1) / block_warps()); }

FN u32 block_warp(void) {
  return (thread_block_id() * thread_block_size() + thread_id()) / WARP_THREADS;
}

// Returns the warp's number for block_trips(). If there are fewer tiles than warps, tiles are dealt
// to the thread blocks in turn, so that every thread block gets a share; warps without a tile get
// numbers past the last one.
FN u32 block_warp_of(u64 tiles) {
  return tiles < block_warps()
             ? thread_id() / WARP_THREADS * thread_block_count() + thread_block_id()
             : block_warp();
}

// Whether piece `p` exists and begins at or before `tile`.
FN u32 block_begins_by(GLOBAL const CipherPiece *pieces, u32 count, u32 p, u64 tile) {
  return p < count && pieces[p].first_tile <= tile;
}

// Returns the piece of `tile`, given the piece `p` of an earlier tile. Pieces of equal length, for
// example the segments of a text, are found without a search.
FN u32 block_next_piece(GLOBAL const CipherPiece *pieces, u32 count, u32 p, u64 tile) {
  if (!block_begins_by(pieces, count, p + 1, tile)) return p;
  ++p;
  if (!block_begins_by(pieces, count, p + 1, tile)) return p;
  const u64 first = pieces[p].first_tile;
  const u32 each = (u32)(pieces[p + 1].first_tile - first);
  const u32 guess = p + (u32)(tile - first) / (each == 0 ? 1 : each);
  if (block_begins_by(pieces, count, guess, tile) &&
      !block_begins_by(pieces, count, guess + 1, tile))
    return guess;
  return p + block_find_piece(pieces + p, count - p, tile);
}

// Loads 1 to 16 bytes from any address; the rest of the block is zero.
FN Block block_load_bytes(GLOBAL const u8 *from, u32 bytes) {
  Block b = {{0, 0, 0, 0}};
  UNROLL for (u32 i = 0; i < 16; ++i) {
    if (i < bytes) b.w[i / 4] |= (u32)from[i] << (8 * (i % 4));
  }
  return b;
}

FN void block_store_bytes(GLOBAL u8 *to, Block b, u32 bytes) {
  UNROLL for (u32 i = 0; i < 16; ++i) {
    if (i < bytes) to[i] = (u8)(b.w[i / 4] >> (8 * (i % 4)));
  }
}

// Stores bytes `first` up to `end` of a block whose first byte belongs at `to`. The code is small,
// for cases that are rare.
FN void block_store_range(GLOBAL u8 *to, Block b, u32 first, u32 end) {
  ROLLED for (u32 i = first; i < end; ++i) {
    const u32 word = i < 8 ? (i < 4 ? b.w[0] : b.w[1]) : (i < 12 ? b.w[2] : b.w[3]);
    to[i] = (u8)(word >> (8 * (i % 4)));
  }
}

// Loads the block at `from`, or `bytes` of it, padded with zeros, if fewer than 16 are left.
// `aligned`: `from` is a multiple of 16.
FN Block load_part(GLOBAL const u8 *from, u64 bytes, u32 aligned) {
  if (aligned && bytes >= 16) return load_block(from);
  return block_load_bytes(from, bytes < 16 ? (u32)bytes : 16);
}

FN void store_part(GLOBAL u8 *to, Block b, u64 bytes, u32 aligned) {
  if (aligned && bytes >= 16)
    store_block(to, b);
  else
    block_store_bytes(to, b, bytes < 16 ? (u32)bytes : 16);
}

// Whether input and output of a piece can be accessed 16 bytes at a time.
FN u32 block_aligned(GLOBAL const u8 *in, GLOBAL const u8 *out) {
  return (((u64)in | (u64)out) & 15) == 0;
}

FN Block block_xor(Block a, Block b) {
  UNROLL for (int i = 0; i < 4; ++i) a.w[i] ^= b.w[i];
  return a;
}

FN Block block_iv(GLOBAL const CipherPiece *piece) {
  Block b = {{piece->iv[0], piece->iv[1], piece->iv[2], piece->iv[3]}};
  return b;
}

// Returns the position of a counter in its window of `size` counters (a power of 2, at most 65536).
FN u32 block_skew(Block counter, u32 size) {
  return (BYTE_OF(counter.w[3], 2) << 8 | BYTE_OF(counter.w[3], 3)) & (size - 1);
}

// Returns the first counter of that window.
FN Block block_window(Block counter, u32 size) {
  counter.w[3] ^= SWAP_BYTES(block_skew(counter, size));
  return counter;
}

// Returns the counter block `number` blocks after `first`: addition modulo 2^128, big-endian (SP
// 800-38A, B.1, with m = 128).
FN Block block_counter(Block first, u64 number) {
  const u64 high = (u64)SWAP_BYTES(first.w[0]) << 32 | SWAP_BYTES(first.w[1]);
  const u64 low = (u64)SWAP_BYTES(first.w[2]) << 32 | SWAP_BYTES(first.w[3]);
  const u64 new_low = low + number;
  const u64 new_high = high + (new_low < low ? 1 : 0);
  const u32 h1 = (u32)(new_high >> 32), h0 = (u32)new_high;
  const u32 l1 = (u32)(new_low >> 32), l0 = (u32)new_low;
  Block b = {{SWAP_BYTES(h1), SWAP_BYTES(h0), SWAP_BYTES(l1), SWAP_BYTES(l0)}};
  return b;
}

// Loads a round key of a schedule whose round keys are `step` words apart.
FN Block block_round_key(GLOBAL const u32 *schedule, u32 step, u32 round) {
  return load_block((GLOBAL const u8 *)(schedule + step * round));
}

#ifdef HAS_KEY_SLOT
// The key slot, one for all ciphers. XTS keeps the schedule of its tweak key after that of its data
// key.
KEY_SLOT(block_key_slot, 2 * BLOCK_MOST_SCHEDULE_WORDS)

FN Block block_slot_round_key(u32 round) {
  const Block key = {{block_key_slot[4 * round], block_key_slot[4 * round + 1],
                      block_key_slot[4 * round + 2], block_key_slot[4 * round + 3]}};
  return key;
}
#endif
