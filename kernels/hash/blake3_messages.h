// BLAKE3 of many messages, one thread for each message.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/hash/blake3.h"

// `blake3_message` hashes a message of at most BLAKE3_MOST_ALONE bytes up to its root, which it
// leaves in `node` (BLAKE3 paper, section 2.1).
FN void blake3_message(GLOBAL const u8 *in, u64 at, u64 length, const u32 *key, u32 flags,
                       Blake3Node *node) {
  // A stack with the chaining values of complete subtrees that wait for a right sibling, at most
  // one for each level.
  u32 waiting[8 * BLAKE3_MOST_LEVELS];
  u32 depth = 0;
  u64 chunk = 0;
  for (; length - chunk * BLAKE3_CHUNK > BLAKE3_CHUNK; ++chunk) {
    blake3_chunk(in, at + chunk * BLAKE3_CHUNK, BLAKE3_CHUNK, chunk, key, flags, node);
    u32 chain[8];
    blake3_chain(node, chain);
    for (u64 rest = chunk + 1; rest % 2 == 0; rest /= 2) {
      --depth;
      UNROLL for (int i = 0; i < 8; ++i) {
        node->block[i] = waiting[8 * depth + i];
        node->block[8 + i] = chain[i];
      }
      blake3_parent(key, flags, node);
      blake3_chain(node, chain);
    }
    UNROLL for (int i = 0; i < 8; ++i) waiting[8 * depth + i] = chain[i];
    ++depth;
  }
  blake3_chunk(in, at + chunk * BLAKE3_CHUNK, (u32)(length - chunk * BLAKE3_CHUNK), chunk, key,
               flags, node);
  while (depth > 0) {
    u32 chain[8];
    blake3_chain(node, chain);
    --depth;
    UNROLL for (int i = 0; i < 8; ++i) {
      node->block[i] = waiting[8 * depth + i];
      node->block[8 + i] = chain[i];
    }
    blake3_parent(key, flags, node);
  }
}

// `hash_blake3` hashes `count` whole messages, one for each thread.
KERNEL(hash_blake3, HASH_THREAD_BLOCK)
(GLOBAL const HashPiece *pieces, GLOBAL const u8 *in, GLOBAL u8 *out, u32 count, u64 digest_bytes,
 GLOBAL const u32 *key, u32 flags) {
  const u32 n = thread_block_id() * thread_block_size() + thread_id();
  if (n >= count) return;
  const HashPiece piece = pieces[n];
  u32 words[8];
  UNROLL for (int i = 0; i < 8; ++i) words[i] = key[i];
  Blake3Node root;
  blake3_message(in, piece.at, piece.bytes, words, flags, &root);
  blake3_output(&root, out + piece.out, digest_bytes, 0, 1);
}
