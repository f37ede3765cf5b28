// Segments without tags, of CTR and ChaCha20: the device writes their pieces and, in a CUDA graph,
// prevents a launch from encrypting with counters of another launch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aead/aead_segments.h"

// Writes the pieces of all segments. `nonces` has four words for each segment, if the caller passes
// nonces.
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

// Runs after plain_segments: if this launch must not encrypt, sets its outputs to zero, and leaves
// the cipher's kernel nothing to do. Several thread blocks may handle the same segment; each zeroes
// its share.
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
