// Additional data of segments: the device writes each segment's additional data, with its number,
// and the runs and sums that hash it, in addition to what aead_segments writes for the text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aead/aead_segments.h"

FN u32 segment_aad_byte(GLOBAL const SegmentRule *rule, GLOBAL const u8 *given, u32 n, u32 byte) {
  const u32 within = byte - rule->aad_number_at;  // wraps if the byte lies before the number
  if (byte < rule->aad_number_at || within >= rule->aad_number_bytes) return given[byte];
  return segment_number_byte(rule->aad_number + n, within, rule->aad_number_bytes,
                             rule->aad_is_little_endian);
}

// Writes the additional data in whole blocks to `aad`: once for all segments or, if it contains a
// number, once for each. The runs are stored after those of the texts, and each sum after that of
// its text.
KERNEL(aead_segments_aad, SEGMENT_THREADS)
(GLOBAL const SegmentRule *rule, GLOBAL const u8 *given_base, GLOBAL u8 *aad, GLOBAL HashRun *runs,
 GLOBAL HashSum *sums) {
  const u32 first = thread_block_id() * thread_block_size() + thread_id(),
            step = thread_block_count() * thread_block_size();
  GLOBAL const u8 *given = given_base + rule->aad_at;
  const u32 length = rule->aad_length, blocks = (length + 15) / 16;
  const u32 copies = rule->aad_number_bytes != 0 ? rule->count : 1;
  for (u32 i = first; i < copies * blocks; i += step) {
    const u32 n = i / blocks, begin = 16 * (i % blocks);
    Block block = {{0, 0, 0, 0}};
    UNROLL for (u32 b = 0; b < 16; ++b) {
      if (begin + b < length)
        block.w[b / 4] |= segment_aad_byte(rule, given, n, begin + b) << (8 * (b % 4));
    }
    store_block(aad + 16 * (u64)i, block);
  }
  for (u32 n = first; n < rule->count; n += step) {
    GLOBAL const SegmentShape *shape = rule->shapes + segment_shape(rule, n);
    GLOBAL HashRun *run = runs + rule->run_count + n;
    run->at = copies == 1 ? 0 : 16 * (u64)blocks * n;
    run->length = length;
    // The blocks of the text and of the lengths follow.
    run->exponent = 2 + (shape->length + 15) / 16;
    run->key = rule->is_poly ? n : 0;
    run->source = HASH_SOURCE_AAD;
    run->matrices = HASH_NO_MATRICES;
    run->piece = 0;
    GLOBAL HashSum *sum = sums + 2 * (u64)n + 1;
    sum->first_run = rule->run_count + n;
    sum->run_count = 1;
    sum->key = run->key;
    sum->closes = 0;
  }
}
