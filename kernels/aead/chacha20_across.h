// ChaCha20's texts at any address, for warps: see block/across.h. A lane has 64 bytes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chacha20.h"
#include "kernels/block/across.h"

#ifdef LC_BIT_MATRICES

// The 64 bytes of each lane.
FN void chacha20_load_across(Block *data, GLOBAL const u8 *in, SHARED u32 *scratch) {
  const u32 lane = lane_id() % 32, skew = across_skew(in);
  u32 words[21], moved[16];
  UNROLL for (u32 i = 0; i < 4; ++i) {
    const Block part = load_block(in - skew + 16 * i);
    UNROLL for (u32 w = 0; w < 4; ++w) words[4 * i + w] = part.w[w];
  }
  UNROLL for (u32 w = 0; w < 4; ++w) words[16 + w] =
      word_of_lane(words[w], (lane + 1) % 32, scratch);
  if (lane == 31 && skew != 0) {
    const Block part = load_block(in - skew + 64);
    UNROLL for (u32 w = 0; w < 4; ++w) words[16 + w] = part.w[w];
  }
  words[20] = 0;
  ACROSS_SHIFT(moved, words, 16, skew);
  UNROLL for (u32 i = 0; i < 16; ++i) data[i / 4].w[i % 4] = moved[i];
}

// What a warp keeps from one store to the next: the last block that its last lane has stored in
// part, which only lane 0 has; and whether anything was stored.
typedef struct AcrossStore {
  Block last;
  u32 has_begun;
} AcrossStore;

FN AcrossStore across_begin(void) {
  AcrossStore before = {{{0, 0, 0, 0}}, 0};
  return before;
}

FN void chacha20_store_across(GLOBAL u8 *out, const Block *data, AcrossStore *before,
                              SHARED u32 *scratch) {
  const u32 lane = lane_id() % 32, skew = across_skew(out);
  u32 words[21], moved[16];
  UNROLL for (u32 w = 0; w < 4; ++w) {
    const u32 beside = word_of_lane(data[3].w[w], (lane + 31) % 32, scratch);
    words[w] = lane == 0 ? before->last.w[w] : beside;
    before->last.w[w] = beside;
  }
  UNROLL for (u32 i = 0; i < 16; ++i) words[4 + i] = data[i / 4].w[i % 4];
  words[20] = 0;
  ACROSS_SHIFT(moved, words, 16, 16 - skew);
  Block parts[4];
  UNROLL for (u32 i = 0; i < 16; ++i) parts[i / 4].w[i % 4] = moved[i];
  // The first bytes of the first block belong to whoever has what lies before.
  if (lane == 0 && !before->has_begun)
    block_store_bytes(out, data[0], 16 - skew);
  else
    store_block(out - skew, parts[0]);
  UNROLL for (u32 i = 1; i < 4; ++i) store_block(out - skew + 16 * i, parts[i]);
  before->has_begun = 1;
}

// `end`: behind the last byte.
FN void across_end(GLOBAL u8 *end, const AcrossStore *before) {
  const u32 skew = across_skew(end);
  if (lane_id() % 32 != 0 || !before->has_begun || skew == 0) return;
  const Block zero = {{0, 0, 0, 0}};
  block_store_bytes(end - skew, across_join(before->last, zero, 16 - skew), skew);
}

#endif
