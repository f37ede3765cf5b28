// ChaCha20 (RFC 8439, 2.3 and 2.4), one block of 64 bytes per thread. As in OpenSSL, the counter is
// the lower of two words: when it wraps, 1 is added to the first word of the nonce.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aead_layout.h"
#include "kernels/block/tiles.h"

// Part of the quarter round (RFC 8439, 2.1).
#define CHACHA20_STEP(a, b, d, bits)  \
  do {                                \
    x[a] += x[b];                     \
    x[d] ^= x[a];                     \
    x[d] = ROTATE_LEFT(x[d], (bits)); \
  } while (0)

// The quarter round on the state (RFC 8439, 2.2).
#define CHACHA20_QUARTER(a, b, c, d) \
  do {                               \
    CHACHA20_STEP(a, b, d, 16);      \
    CHACHA20_STEP(c, d, b, 12);      \
    CHACHA20_STEP(a, b, d, 8);       \
    CHACHA20_STEP(c, d, b, 7);       \
  } while (0)

// Applies `pairs` pairs of rounds, one of columns and one of diagonals (RFC 8439, 2.3).
FN void chacha20_rounds(u32 *x, int pairs) {
  for (int pair = 0; pair < pairs; ++pair) {
    CHACHA20_QUARTER(0, 4, 8, 12);
    CHACHA20_QUARTER(1, 5, 9, 13);
    CHACHA20_QUARTER(2, 6, 10, 14);
    CHACHA20_QUARTER(3, 7, 11, 15);
    CHACHA20_QUARTER(0, 5, 10, 15);
    CHACHA20_QUARTER(1, 6, 11, 12);
    CHACHA20_QUARTER(2, 7, 8, 13);
    CHACHA20_QUARTER(3, 4, 9, 14);
  }
}

// Writes the initial state, except for the key, of the block `number` blocks after the counter in
// `iv`.
FN void chacha20_frame(u32 *start, const u32 *iv, u64 number) {
  const u64 counter = ((u64)iv[1] << 32 | iv[0]) + number;
  start[0] = 0x61707865u;  // "expand 32-byte k"
  start[1] = 0x3320646eu;
  start[2] = 0x79622d32u;
  start[3] = 0x6b206574u;
  start[12] = (u32)counter;
  start[13] = (u32)(counter >> 32);
  start[14] = iv[2];
  start[15] = iv[3];
}

FN void chacha20_start(u32 *start, GLOBAL const u32 *key, const u32 *iv, u64 number) {
  chacha20_frame(start, iv, number);
  UNROLL for (int i = 0; i < 8; ++i) start[4 + i] = key[i];
}

// The ChaCha20 block function (RFC 8439, 2.3): computes the keystream x[0..15] from the initial
// state.
FN void chacha20_from(u32 *x, const u32 *start) {
  UNROLL for (int i = 0; i < 16; ++i) x[i] = start[i];
  chacha20_rounds(x, 10);
  UNROLL for (int i = 0; i < 16; ++i) x[i] += start[i];
}

FN void chacha20_block(u32 *x, GLOBAL const u32 *key, const u32 *iv, u64 number) {
  u32 start[16];
  chacha20_start(start, key, iv, number);
  chacha20_from(x, start);
}

// Loads the input's next 64 bytes, or its last `length` bytes padded with zeros.
FN void chacha20_load(Block *data, GLOBAL const u8 *in, u64 length, u32 aligned) {
  if (aligned && length >= CHACHA20_BLOCK_BYTES) {
    UNROLL for (u32 i = 0; i < 4; ++i) data[i] = load_block(in + 16 * i);
  } else {
    UNROLL for (u32 i = 0; i < 4; ++i) {
      Block zero = {{0, 0, 0, 0}};
      data[i] = 16 * i < length ? load_part(in + 16 * i, length - 16 * i, 0) : zero;
    }
  }
}

FN void chacha20_store(GLOBAL u8 *out, const Block *data, u64 length, u32 aligned) {
  if (aligned && length >= CHACHA20_BLOCK_BYTES) {
    UNROLL for (u32 i = 0; i < 4; ++i) store_block(out + 16 * i, data[i]);
  } else {
    UNROLL for (u32 i = 0; i < 4; ++i) {
      if (16 * i < length) store_part(out + 16 * i, data[i], length - 16 * i, 0);
    }
  }
}

FN void chacha20_xor(Block *data, const u32 *x) {
  UNROLL for (u32 i = 0; i < 4; ++i) {
    UNROLL for (u32 w = 0; w < 4; ++w) data[i].w[w] ^= x[4 * i + w];
  }
}

// ChaCha20 encryption without a tag (RFC 8439, 2.4). `keys` has raw keys of BLOCK_KEY_WORDS each. A
// tile is one block of 64 bytes for each thread of a warp.
KERNEL(chacha20, CHACHA20_THREADS)
(GLOBAL const CipherPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *keys,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base) {
  BLOCK_WALK_TILES {
    BLOCK_WALK_PIECE
    const u64 number = (tile - piece->first_tile) * WARP_THREADS + thread_id() % WARP_THREADS;
    const u64 at = CHACHA20_BLOCK_BYTES * number;
    if (at >= piece->length) continue;
    const Block iv = block_iv(piece);
    const u32 aligned = block_aligned(in, out);
    const u64 length = piece->length - at;
    Block data[4];
    u32 x[16];
    chacha20_load(data, in + at, length, aligned);
    chacha20_block(x, keys + (u64)piece->key * BLOCK_KEY_WORDS, iv.w, number);
    chacha20_xor(data, x);
    chacha20_store(out + at, data, length, aligned);
  }
}
