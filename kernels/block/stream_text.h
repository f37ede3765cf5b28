// Reads and writes the text of a thread that processes a stream block by block, at any alignment.
// Each 16-byte memory block is read once, and is written as a whole if all its bytes belong to the
// text. The thread keeps what it needs of the last memory block.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/tiles.h"

typedef struct StreamText {
  Block read;     // the memory block in which the next input block begins
  Block written;  // the last output block
} StreamText;

// Starts reading a text that is not empty.
FN StreamText stream_begin(GLOBAL const u8 *in) {
  const Block zero = {{0, 0, 0, 0}};
  const StreamText text = {load_block(in - ((u64)in & 15)), zero};
  return text;
}

// Returns the 16 bytes that begin `from` bytes (0 to 16) after the start of `first`, with `second`
// following it. The threads of a warp have different alignments, so this selects instead of
// branching: no thread waits for another's shift.
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

// Returns the text's block at byte `at` of `length`. Bytes after the end of the text are undefined.
FN Block stream_read(StreamText *text, GLOBAL const u8 *in, u64 at, u64 length) {
  const u32 skew = (u32)(u64)in & 15;
  Block second = {{0, 0, 0, 0}};
  if (skew + (length - at) > 16) second = load_block(in + at - skew + 16);
  const Block block = stream_join(text->read, second, skew);
  text->read = second;
  return block;
}

// Writes the output block for the text's block at `at`, which has been read and may be overwritten.
// The block after it may have been read already.
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
