// The text of a thread that takes a stream block by block, at any address: each block of memory is
// read once, and a whole one is written where it is all of the text's. The thread keeps what it
// needs of the last one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/tiles.h"

typedef struct StreamText {
  Block read;     // the block of memory in which the next of the input begins
  Block written;  // the last of the output
} StreamText;

// Before the first block of a text that is not empty.
FN StreamText stream_begin(GLOBAL const u8 *in) {
  const Block zero = {{0, 0, 0, 0}};
  const StreamText text = {load_block(in - ((u64)in & 15)), zero};
  return text;
}

// The block that begins `from` bytes, 16 at most, behind the first one's beginning. Threads have
// texts at different addresses, so that none should wait for what another shifts.
FN Block stream_join(Block first, Block second, u32 from) {
  u32 words[9];
  UNROLL for (u32 w = 0; w < 4; ++w) {
    words[w] = first.w[w];
    words[4 + w] = second.w[w];
  }
  words[8] = 0;
  UNROLL for (u32 w = 0; w < 4; ++w) words[w] = from & 16 ? words[w + 4] : words[w];
  UNROLL for (u32 w = 0; w < 6; ++w) words[w] = from & 8 ? words[w + 2] : words[w];
  UNROLL for (u32 w = 0; w < 5; ++w) words[w] = from & 4 ? words[w + 1] : words[w];
  Block joined;
  UNROLL for (u32 w = 0; w < 4; ++w) {
    joined.w[w] = JOIN_SHIFTED(words[w], words[w + 1], 8 * (from & 3));
  }
  return joined;
}

// The block at `at` of `length` bytes; behind the text's end it has anything.
FN Block stream_read(StreamText *text, GLOBAL const u8 *in, u64 at, u64 length) {
  const u32 skew = (u32)(u64)in & 15;
  Block second = {{0, 0, 0, 0}};
  if (skew + (length - at) > 16) second = load_block(in + at - skew + 16);
  const Block block = stream_join(text->read, second, skew);
  text->read = second;
  return block;
}

// What has been made of a block that has been read, which may be written over it. The next one may
// have been read before.
FN void stream_write(StreamText *text, GLOBAL u8 *out, Block block, u64 at, u64 length) {
  const u32 skew = (u32)(u64)out & 15, left = length - at < 16 ? (u32)(length - at) : 16;
  const u32 first = at == 0 ? skew : 0, end = skew + left;
  GLOBAL u8 *to = out + at - skew;
  const Block whole = stream_join(text->written, block, 16 - skew);
  if (first == 0 && end >= 16)
    store_block(to, whole);
  else
    block_store_range(to, whole, first, end < 16 ? end : 16);
  if (at + 16 >= length && end > 16)
    block_store_range(to + 16, stream_join(block, block, 16 - skew), 0, end - 16);
  text->written = block;
}
