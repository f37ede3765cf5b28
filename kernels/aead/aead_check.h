// Kernels that write tags of encrypted messages, or compare tags of decrypted ones. Output whose
// tag is wrong must not be used, so it is wiped before the stream continues.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aead_layout.h"
#include "kernels/block/tiles.h"
#include "poly1305_field.h"
#include "tag_difference.h"

// Returns the tag of a message: the sum of `results`, which ghash_sums or, if `is_poly` is 1,
// poly1305_sums has written for its pieces.
FN Block aead_tag(GLOBAL const TagCheck *check, u32 is_poly, GLOBAL const u32 *results) {
  if (is_poly) {
    u64 sums[5] = {0, 0, 0, 0, 0};
    for (u32 k = 0; k < check->sum_count; ++k) {
      GLOBAL const u32 *sum = results + (u64)(check->first_sum + k) * POLY1305_SUM_WORDS;
      UNROLL for (int i = 0; i < 5; ++i) sums[i] += sum[i];
    }
    GLOBAL const u32 *s = results + (u64)check->first_sum * POLY1305_SUM_WORDS + 8;
    Block words = {{s[0], s[1], s[2], s[3]}};
    return poly_finish(poly_carry(sums), words);
  }
  Block tag = {{0, 0, 0, 0}};
  for (u32 k = 0; k < check->sum_count; ++k)
    tag =
        block_xor(tag, load_block((GLOBAL const u8 *)(results + 4 * (u64)(check->first_sum + k))));
  return tag;
}

// Writes the tags of encrypted messages, one thread per message.
KERNEL(aead_tags, TAG_CHECK_THREADS)
(GLOBAL const TagCheck *checks, u32 count, u32 is_poly, GLOBAL const u32 *results,
 GLOBAL u8 *tag_base) {
  AWAIT_BEFORE();
  for (u32 n = thread_block_id() * thread_block_size() + thread_id(); n < count;
       n += thread_block_count() * thread_block_size()) {
    GLOBAL const TagCheck *check = checks + n;
    block_store_bytes(tag_base + check->tag_at, aead_tag(check, is_poly, results),
                      check->tag_bytes);
  }
}

// Compares the tags of decrypted messages (SP 800-38D, 7.2; RFC 8439, 2.8). Several thread blocks
// may check the same message; each wipes its share of the output if the tag is wrong. The verdict
// is 1 if the tag was right, otherwise 0.
KERNEL(aead_check, TAG_CHECK_THREADS)
(GLOBAL const TagCheck *checks, u32 count, u32 is_poly, GLOBAL const u32 *results,
 GLOBAL u8 *out_base, GLOBAL const u8 *tag_base, GLOBAL u8 *verdict_base) {
  const u32 thread_blocks_each = count < thread_block_count() ? thread_block_count() / count : 1;
  const u32 share = thread_block_id() % thread_blocks_each;
  for (u32 n = thread_block_id() / thread_blocks_each; n < count;
       n += thread_block_count() / thread_blocks_each) {
    GLOBAL const TagCheck *check = checks + n;
    const Block tag = aead_tag(check, is_poly, results);
    Block given = {{check->tag[0], check->tag[1], check->tag[2], check->tag[3]}};
    if ((check->is & TAG_IN_MEMORY) != 0)
      given = block_load_bytes(tag_base + check->tag_at, check->tag_bytes);
    const u32 difference = tag_difference(tag, given, check->tag_bytes);
    if ((check->is & TAG_HAS_VERDICT) != 0 && share == 0 && thread_id() == 0)
      verdict_base[check->verdict_at] = difference == 0 ? 1 : 0;
    if (difference == 0) continue;
    GLOBAL u8 *out = out_base + check->at;
    Block zero = {{0, 0, 0, 0}};
    const u32 aligned = ((u64)out & 15) == 0;
    for (u64 at = 16 * ((u64)share * thread_block_size() + thread_id()); at < check->length;
         at += 16 * ((u64)thread_blocks_each * thread_block_size()))
      store_part(out + at, zero, check->length - at, aligned);
  }
}
