// Segments without tags, of CTR and ChaCha20: the device itself writes their pieces, and in a graph
// sees to it that no launch encrypts with a counter of another.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aead/aead_segments.h"

// nonces: four words of each segment, if they are given.
KERNEL(plain_segments, SEGMENT_THREADS)
(GLOBAL const SegmentRule *rule, GLOBAL const u32 *nonces, GLOBAL CipherPiece *pieces) {
  const u32 first = thread_block_id() * thread_block_size() + thread_id(),
            step = thread_block_count() * thread_block_size();
  for (u32 n = first; n < rule->count; n += step) {
    segment_write_piece(rule, n, pieces + n);
    UNROLL for (u32 w = 0; w < 4; ++w) {
      pieces[n].iv[w] =
          rule->nonces_are_given ? nonces[4 * (u64)n + w] : segment_nonce_word(rule, n, w);
    }
  }
}

// After plain_segments: where this launch must not encrypt, its outputs become zeros, and the
// cipher's kernel finds nothing to do. All thread blocks look at every segment, and each zeroes a
// share.
KERNEL(plain_refuse, SEGMENT_THREADS)
(GLOBAL const SegmentRule *rule, GLOBAL const SegmentGraphUpdate *update,
 GLOBAL CipherPiece *pieces, GLOBAL u8 *out_base) {
  if (!update->is_refused) return;
  const Block zero = {{0, 0, 0, 0}};
  const u32 thread_blocks_each =
      rule->count < thread_block_count() ? thread_block_count() / rule->count : 1;
  const u32 share = thread_block_id() % thread_blocks_each;
  for (u32 n = thread_block_id() / thread_blocks_each; n < rule->count;
       n += thread_block_count() / thread_blocks_each) {
    const u64 length = rule->shapes[segment_shape(rule, n)].length;
    GLOBAL u8 *out = out_base + segment_place(rule->out, n);
    const u32 aligned = ((u64)out & 15) == 0;
    if (share == 0 && thread_id() == 0) pieces[n].length = 0;
    for (u64 at = 16 * ((u64)share * thread_block_size() + thread_id()); at < length;
         at += 16 * ((u64)thread_blocks_each * thread_block_size()))
      store_part(out + at, zero, length - at, aligned);
  }
}
