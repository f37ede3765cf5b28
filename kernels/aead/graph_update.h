// Segments in a CUDA graph that is launched repeatedly: each launch encrypts with new nonces, as
// long as there are any.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aead/aead_segments.h"

// Returns the number that a nonce contains.
FN u64 graph_update_number(GLOBAL const SegmentRule *rule, GLOBAL const u8 *nonce) {
  u64 number = 0;
  for (u32 i = 0; i < rule->number_bytes; ++i) {
    const u32 at = rule->is_little_endian ? rule->number_bytes - 1 - i : i;
    number = number << 8 | nonce[rule->number_at + at];
  }
  return number;
}

// Sets the rule's nonce or number for this launch, by one thread, before aead_segments or
// plain_segments. Encryption takes the next numbers and writes the first segment's nonce to
// `nonce_base`; decryption reads it from there. The verdict of an encryption is 0 if no numbers are
// left.
KERNEL(aead_next_nonces, SEGMENT_THREADS)
(GLOBAL SegmentRule *rule, GLOBAL SegmentGraphUpdate *update, GLOBAL u8 *nonce_base,
 GLOBAL u8 *verdict_base) {
  if (thread_block_id() != 0 || thread_id() != 0) return;
  const u32 has_nonce = update->has & GRAPH_UPDATE_HAS_NONCE;
  GLOBAL u8 *nonce = nonce_base + (has_nonce ? update->nonce_at : 0);
  if (rule->opens) {
    if (!has_nonce) return;
    for (u32 w = 0; w < rule->nonce_bytes / 4; ++w) {
      u32 word = 0;
      for (u32 i = 0; i < 4; ++i) word |= (u32)nonce[4 * w + i] << (8 * i);
      rule->nonce[w] = word;
    }
    rule->number = graph_update_number(rule, nonce);
    return;
  }
  const u32 is_refused = update->left == 0 ? 1 : 0;
  update->is_refused = is_refused;
  if (!is_refused) {
    rule->number = update->next;
    update->next += rule->count;
    update->left -= 1;
  }
  verdict_base[update->verdict_at] = (u8)(1 - is_refused);
  if (!has_nonce) return;
  for (u32 i = 0; i < rule->nonce_bytes; ++i)
    nonce[i] = (u8)(is_refused ? 0 : segment_nonce_byte(rule, 0, i));
}

// Runs after aead_segments: if this launch must not encrypt, sets its outputs and tags to zero, and
// leaves the later kernels nothing to do. Stale output must not remain, because the caller may send
// what it finds there.
KERNEL(aead_refuse, SEGMENT_THREADS)
(GLOBAL const SegmentRule *rule, GLOBAL const SegmentGraphUpdate *update,
 GLOBAL CipherPiece *pieces, GLOBAL HashRun *runs, GLOBAL TagCheck *checks, GLOBAL u8 *out_base,
 GLOBAL u8 *tag_base) {
  if (!update->is_refused) return;
  const Block zero = {{0, 0, 0, 0}};
  const u32 first = thread_block_id() * thread_block_size() + thread_id(),
            step = thread_block_count() * thread_block_size();
  for (u32 n = first; n < rule->count; n += step) {
    pieces[n].length = 0;
    block_store_bytes(tag_base + checks[n].tag_at, zero, checks[n].tag_bytes);
    checks[n].tag_bytes = 0;
  }
  for (u32 r = first; r < rule->run_count; r += step) {
    // The runs cover the whole text.
    GLOBAL u8 *out = out_base + runs[r].at + (rule->is_poly ? pieces[runs[r].piece].out : 0);
    const u32 aligned = ((u64)out & 15) == 0;
    for (u64 at = 0; at < runs[r].length; at += 16)
      store_part(out + at, zero, runs[r].length - at, aligned);
    runs[r].length = 0;
  }
}
