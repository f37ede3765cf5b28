// Loads and stores unaligned texts of ChaCha20 in a thread that cooperates with no other: it reads
// the 16-byte memory blocks in which its 64 bytes lie, shifts them, and writes single bytes only
// where a memory block is not entirely its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chacha20.h"
#include "kernels/block/unaligned.h"

// Loads 64 bytes from `in`, or the last `length` bytes padded with zeros, as chacha20_load() does.
// No memory block after the text is read.
FN void chacha20_load_alone(Block *data, GLOBAL const u8 *in, u64 length) {
  const u32 skew = unaligned_skew(in), most = 2 * CHACHA20_BLOCK_BYTES;
  const u32 end = skew + (length < most ? (u32)length : most);
  u32 words[21], moved[16];
  UNROLL for (u32 i = 0; i < 5; ++i) {
    Block part = {{0, 0, 0, 0}};
    // The fifth memory block is needed only if the text begins inside the first.
    if (16 * i < end && (i < 4 || skew != 0)) part = load_part(in - skew + 16 * i, end - 16 * i, 1);
    UNROLL for (u32 w = 0; w < 4; ++w) words[4 * i + w] = part.w[w];
  }
  words[20] = 0;
  unaligned_move(moved, words, 16, skew);
  UNROLL for (u32 i = 0; i < 16; ++i) data[i / 4].w[i % 4] = moved[i];
}

FN void chacha20_store_alone(GLOBAL u8 *out, const Block *data, u64 length) {
  const u32 skew = unaligned_skew(out), to_block = 16 - skew;
  const u32 bytes = length < CHACHA20_BLOCK_BYTES ? (u32)length : CHACHA20_BLOCK_BYTES;
  const u32 end = skew + bytes;
  u32 words[21], parts[16];
  UNROLL for (u32 i = 0; i < 16; ++i) words[i] = data[i / 4].w[i % 4];
  UNROLL for (u32 w = 16; w < 21; ++w) words[w] = 0;
  // The bytes from the first multiple of 16 on.
  unaligned_move(parts, words, 16, to_block);
  block_store_bytes(out, data[0], bytes < to_block ? bytes : to_block);
  UNROLL for (u32 i = 0; i < 4; ++i) {
    const Block part = {{parts[4 * i], parts[4 * i + 1], parts[4 * i + 2], parts[4 * i + 3]}};
    const u32 place = 16 * (i + 1);
    if (place < end) store_part(out - skew + place, part, end - place, 1);
  }
}
