// Reads words of messages at any address, and writes bytes of digests.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/platform.h"

// Reads 4 bytes from any address. The first byte is the least significant.
FN u32 bytes_word(GLOBAL const u8 *from) {
  return JOIN_BYTES((u32)from[0], (u32)from[1], (u32)from[2], (u32)from[3]);
}

// Reads 16 bytes. `at` is the distance from an aligned base to `from`, modulo 16, and selects the
// widest load that the alignment allows. The base of all messages is aligned.
FN Block bytes_block(GLOBAL const u8 *from, u64 at) {
  if (at % 16 == 0) return load_block(from);
  Block b;
  if (at % 4 == 0) {
    UNROLL for (int i = 0; i < 4; ++i) b.w[i] = ((GLOBAL const u32 *)from)[i];
  } else {
    UNROLL for (int i = 0; i < 4; ++i) b.w[i] = bytes_word(from + 4 * i);
  }
  return b;
}

// Reads 8 bytes in the same way.
FN u64 bytes_word_64(GLOBAL const u8 *from, u64 at) {
  if (at % 8 == 0) return *(GLOBAL const u64 *)from;
  return bytes_word(from) | (u64)bytes_word(from + 4) << 32;
}

// Returns word `n` of the last `left` bytes of a message, padded with the byte `pad` and then
// zeros.
FN u32 bytes_last_word(GLOBAL const u8 *from, u32 left, u32 n, u32 pad) {
  u32 word = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 place = 4 * n + i;
    const u32 byte = place < left ? from[place] : (place == left ? pad : 0);
    word |= byte << (8 * i);
  }
  return word;
}

// Stores the bytes of `word` to `out` from offset `at`, but none at or after offset `end`.
FN void bytes_store(GLOBAL u8 *out, u64 at, u64 end, u32 word) {
  for (u32 i = 0; i < 4 && at + i < end; ++i) out[at + i] = (u8)(word >> (8 * i));
}
