// ChaCha20 (RFC 8439, 2.4) without tags for unaligned texts, by warps: see block/unaligned.h. A
// thread makes 64 bytes of keystream and passes some of them to the neighbouring thread, since each
// thread writes the memory blocks in which its own 64 bytes begin.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chacha20_unaligned.h"

#ifdef HAS_WARP_SHUFFLE

#define CHACHA20_UNALIGNED_TILE_BYTES (CHACHA20_BLOCK_BYTES * CHACHA20_UNALIGNED_WARP)

// Loads a block per thread from the thread's address `from`. If that is not a multiple of 16, both
// memory blocks in which it lies must contain bytes of the text.
FN Block chacha20_block_unaligned(GLOBAL const u8 *from, u32 skew) {
  const Block first = load_block(from - skew);
  return skew == 0 ? first : unaligned_join(first, load_block(from - skew + 16), skew);
}

// XORs the memory of one tile: 64 bytes of each thread at `out` and `in`, which are the thread's
// own addresses; `out` is a multiple of 16. Only bytes `begin` up to `end` of the warp's memory
// belong to the text. All reads are issued before the keystream is computed, so that no thread
// waits for them. `before`: see chacha20_move_unaligned(). `out_skew`: the number of bytes by which
// the memory begins before the tile's keystream.
FN void chacha20_tile_unaligned(GLOBAL u8 *out, GLOBAL const u8 *in, const u32 *start,
                                Block *before, u32 out_skew, u32 begin, u32 end,
                                SHARED u32 *scratch) {
  const u32 thread = thread_id() % 32, in_skew = unaligned_skew(in);
  const u32 is_whole = begin == 0 && end == CHACHA20_UNALIGNED_TILE_BYTES;
#define CHACHA20_PLACE(i) (64 * thread + 16 * (i))
#define CHACHA20_HAS(i) (CHACHA20_PLACE(i) >= begin && CHACHA20_PLACE(i) + 16 <= end)
  Block text[4], behind = {{0, 0, 0, 0}};
  if (is_whole) {
    UNROLL for (u32 i = 0; i < 4; ++i) text[i] = load_block(in - in_skew + 16 * i);
    if (in_skew != 0) behind = load_block(in - in_skew + 64);
  } else {
    UNROLL for (u32 i = 0; i < 4; ++i) {
      const Block zero = {{0, 0, 0, 0}};
      text[i] = zero;
      if (CHACHA20_HAS(i)) text[i] = chacha20_block_unaligned(in + 16 * i, in_skew);
    }
  }

  u32 x[16];
  Block made[4], key[4];
  chacha20_from(x, start);
  UNROLL for (u32 i = 0; i < 16; ++i) made[i / 4].w[i % 4] = x[i];
  chacha20_move_unaligned(key, made, before, out_skew, 31, scratch);

  if (is_whole) {
    if (in_skew != 0) {
      u32 words[21], moved[16];
      UNROLL for (u32 i = 0; i < 16; ++i) words[i] = text[i / 4].w[i % 4];
      UNROLL for (u32 w = 0; w < 4; ++w) words[16 + w] = behind.w[w];
      words[20] = 0;
      unaligned_move(moved, words, 16, in_skew);
      UNROLL for (u32 i = 0; i < 16; ++i) text[i / 4].w[i % 4] = moved[i];
    }
    UNROLL for (u32 i = 0; i < 4; ++i) store_block(out + 16 * i, block_xor(text[i], key[i]));
    return;
  }
  UNROLL for (u32 i = 0; i < 4; ++i) {
    if (CHACHA20_HAS(i)) store_block(out + 16 * i, block_xor(text[i], key[i]));
  }
#undef CHACHA20_PLACE
#undef CHACHA20_HAS
  // The text begins in thread 0's first block and may end in any block.
  GLOBAL u8 *to = out - 64 * thread;
  GLOBAL const u8 *from = in - 64 * thread;
  const u32 last = end / 16;
  if (begin != 0) unaligned_xor_edge(to, from, 0, key[0], begin, end < 16 ? end : 16, scratch);
  if (end % 16 != 0 && (last != 0 || begin == 0)) {
    // By masks: selecting a block by index would force all blocks into memory.
    Block edge = {{0, 0, 0, 0}};
    UNROLL for (u32 i = 0; i < 4; ++i) {
      const u32 mask = 0u - (last % 4 == i ? 1u : 0u);
      UNROLL for (u32 w = 0; w < 4; ++w) edge.w[w] |= key[i].w[w] & mask;
    }
    unaligned_xor_edge(to + 16 * last, from + 16 * last, last / 4, edge, 0, end % 16, scratch);
  }
}

// XORs bytes `from` up to `to` of a piece; `from` is the beginning of a tile.
FN void chacha20_tiles_unaligned(GLOBAL u8 *out, GLOBAL const u8 *in, GLOBAL const u32 *key,
                                 const u32 *iv, u64 from, u64 to, SHARED u32 *scratch) {
  const u32 thread = thread_id() % 32, skew = unaligned_skew(out);
  // Memory is processed from the multiple of 16 before the first byte; the bytes before it stay
  // unchanged.
  out += from - skew;
  in += from - skew;
  u64 left = to - from + skew;
  u32 begin = skew, start[16];
  Block before = {{0, 0, 0, 0}};
  chacha20_start(start, key, iv, from / CHACHA20_BLOCK_BYTES + thread);
  while (left > skew) {
    const u32 end =
        left < CHACHA20_UNALIGNED_TILE_BYTES ? (u32)left : CHACHA20_UNALIGNED_TILE_BYTES;
    chacha20_tile_unaligned(out + 64 * thread, in + 64 * thread, start, &before, skew, begin, end,
                            scratch);
    begin = 0;
    out += CHACHA20_UNALIGNED_TILE_BYTES;
    in += CHACHA20_UNALIGNED_TILE_BYTES;
    left -= end;
    start[12] += CHACHA20_UNALIGNED_WARP;
    start[13] += start[12] < CHACHA20_UNALIGNED_WARP ? 1 : 0;
  }
  // The bytes that are left use the end of the keystream.
  const Block zero = {{0, 0, 0, 0}};
  if (left != 0)
    unaligned_xor_edge(out, in, 0, unaligned_join(before, zero, 16 - skew), 0, (u32)left, scratch);
}

// Does the same as the kernel `chacha20`, for unaligned texts. A tile is one block of 64 bytes for
// each thread of a warp. Consecutive tiles of a piece in one warp are processed as one range.
KERNEL(chacha20_unaligned, CHACHA20_THREADS)
(GLOBAL const CipherPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *keys,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base SHARED_PARAMETER) {
  SHARED_WORDS(words);
  SHARED u32 *scratch = words + CHACHA20_UNALIGNED_WARP * (thread_id() / 32);
  const u32 warps = thread_block_count() * (thread_block_size() / CHACHA20_UNALIGNED_WARP);
  const u32 warp =
      (thread_block_id() * thread_block_size() + thread_id()) / CHACHA20_UNALIGNED_WARP;
  const u64 end_tile = tiles * (warp + 1) / warps;
  u64 tile = tiles * warp / warps;
  u32 p = tile < end_tile ? block_find_piece(pieces, count, tile) : 0;
  while (tile < end_tile) {
    BLOCK_WALK_PIECE
    const u64 next = p + 1 < count ? pieces[p + 1].first_tile : tiles;
    const u64 stop = next < end_tile ? next : end_tile;
    const u64 from = CHACHA20_UNALIGNED_TILE_BYTES * (tile - piece->first_tile);
    const u64 most = CHACHA20_UNALIGNED_TILE_BYTES * (stop - piece->first_tile);
    const u64 to = most < piece->length ? most : piece->length;
    const Block iv = block_iv(piece);
    tile = stop;
    if (from < to)
      chacha20_tiles_unaligned(out, in, keys + (u64)piece->key * BLOCK_KEY_WORDS, iv.w, from, to,
                               scratch);
  }
  // If threads exchange words through shared memory, it contains keystream, so it is wiped.
  scratch[thread_id() % 32] = 0;
}

#endif
