// Tree hashes of one large message: BLAKE3, and the Merkle tree of RFC 9162 (section 2.1.1) with
// SHA-256. One thread hashes each leaf. Then each HASH_SPAN values are reduced to one until few are
// left, and one thread block makes the root.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/hash/blake3.h"
#include "kernels/hash/hash_layout.h"
#include "kernels/hash/sha2_messages.h"

// `blake3_join` writes the chaining value of the parent of two values.
FN void blake3_join(const u32 *block, const u32 *key, u32 flags, u32 *value) {
  Blake3Node node;
  UNROLL for (int i = 0; i < 16; ++i) node.block[i] = block[i];
  blake3_parent(key, flags, &node);
  blake3_chain(&node, value);
}

#define MERKLE_LEAF 0u
#define MERKLE_NODE 1u

// `merkle_leaf` hashes a leaf: SHA-256 of MERKLE_LEAF and the leaf's bytes (RFC 9162, section
// 2.1.1).
FN void merkle_leaf(GLOBAL const u8 *in, u64 at, u64 length, u32 *value) {
  sha256_start(value);
  u32 carried = MERKLE_LEAF;
  const u64 end = at + length;
  u64 from = at;
  for (; from + 64 <= end; from += 64) {
    u32 w[16];
    sha256_load(in + from, at, w);
    UNROLL for (int i = 0; i < 16; ++i) {
      const u32 word = w[i];
      w[i] = carried << 24 | word >> 8;
      carried = word & 0xff;
    }
    sha256_compress(value, w);
  }
  sha256_finish(value, in + from, (u32)(end - from), length + 1, 1, carried);
}

// `merkle_join` hashes a node: SHA-256 of MERKLE_NODE and two values, 65 bytes (RFC 9162, section
// 2.1.1).
FN void merkle_join(const u32 *block, u32 *value) {
  u32 w[16];
  UNROLL for (int i = 0; i < 16; ++i) w[i] =
      (i == 0 ? MERKLE_NODE : block[i == 0 ? 0 : i - 1] & 0xff) << 24 | block[i] >> 8;
  sha256_start(value);
  sha256_compress(value, w);
  w[0] = block[15] << 24 | SHA2_PAD << 16;
  UNROLL for (int i = 1; i < 15; ++i) w[i] = 0;
  w[15] = 65 * 8;
  sha256_compress(value, w);
}

#define TREE_NAME(name) blake3_##name
#define TREE_KEY , const u32 *key, u32 flags
#define TREE_PARENT(block, value) blake3_join((block), key, flags, (value))
#define TREE_WORD(word) (word)
#include "kernels/hash/tree_nodes.inc"
#undef TREE_NAME
#undef TREE_KEY
#undef TREE_PARENT
#undef TREE_WORD

#define TREE_NAME(name) merkle_##name
#define TREE_KEY
#define TREE_PARENT(block, value) merkle_join((block), (value))
#define TREE_WORD(word) SWAP_BYTES(word)
#include "kernels/hash/tree_nodes.inc"
#undef TREE_NAME
#undef TREE_KEY
#undef TREE_PARENT
#undef TREE_WORD

// `hash_blake3_leaves` hashes `count` leaves, one for each thread, and stores their values from
// index `to` on. The leaves begin at offset `at` of `in`. `bytes` is what is left of the message
// from there, `first` the number of the first leaf in the message.
KERNEL(hash_blake3_leaves, HASH_THREAD_BLOCK)
(GLOBAL const u8 *in, u64 at, u64 bytes, u64 first, u32 count, GLOBAL u32 *values, u64 to,
 GLOBAL const u32 *key, u32 flags) {
  const u32 n = thread_block_id() * thread_block_size() + thread_id();
  if (n >= count) return;
  const u64 from = (u64)n * BLAKE3_CHUNK;
  u32 words[8], chain[8];
  UNROLL for (int i = 0; i < 8; ++i) words[i] = key[i];
  Blake3Node node;
  blake3_chunk(in, at + from, (u32)(bytes - from < BLAKE3_CHUNK ? bytes - from : BLAKE3_CHUNK),
               first + n, words, flags, &node);
  blake3_chain(&node, chain);
  UNROLL for (int i = 0; i < 8; ++i) values[HASH_VALUE_WORDS * (to + n) + i] = chain[i];
}

// `hash_merkle_leaves` does the same for the Merkle tree, with leaves of `leaf_bytes` bytes.
KERNEL(hash_merkle_leaves, HASH_THREAD_BLOCK)
(GLOBAL const u8 *in, u64 at, u64 bytes, u64 leaf_bytes, u32 count, GLOBAL u32 *values, u64 to) {
  const u32 n = thread_block_id() * thread_block_size() + thread_id();
  if (n >= count) return;
  const u64 from = (u64)n * leaf_bytes;
  u32 value[8];
  merkle_leaf(in, at + from, bytes - from < leaf_bytes ? bytes - from : leaf_bytes, value);
  UNROLL for (int i = 0; i < 8; ++i) values[HASH_VALUE_WORDS * (to + n) + i] = SWAP_BYTES(value[i]);
}

// `hash_blake3_nodes` reduces `count` values, from index `from` on. Each thread block reduces the
// next HASH_SPAN of them to one and stores it at index `to` plus its thread block number.
KERNEL(hash_blake3_nodes, HASH_THREAD_BLOCK)
(GLOBAL const u32 *values, u64 from, u32 count, GLOBAL u32 *parents, u64 to, GLOBAL const u32 *key,
 u32 flags SHARED_PARAMETER) {
  SHARED_WORDS(mine);
  const u64 first = (u64)thread_block_id() * HASH_SPAN;
  const u32 left = count - (u32)first;
  u32 words[8];
  UNROLL for (int i = 0; i < 8; ++i) words[i] = key[i];
  const u32 own = left < HASH_SPAN ? left : HASH_SPAN;
  blake3_fetch(mine, values + HASH_VALUE_WORDS * (from + first), own);
  blake3_reduce(mine, own, 1, words, flags);
  for (u32 i = thread_id(); i < HASH_VALUE_WORDS; i += thread_block_size())
    parents[HASH_VALUE_WORDS * (to + thread_block_id()) + i] = mine[i * HASH_SPAN];
}

KERNEL(hash_merkle_nodes, HASH_THREAD_BLOCK)
(GLOBAL const u32 *values, u64 from, u32 count, GLOBAL u32 *parents, u64 to SHARED_PARAMETER) {
  SHARED_WORDS(mine);
  const u64 first = (u64)thread_block_id() * HASH_SPAN;
  const u32 left = count - (u32)first;
  const u32 own = left < HASH_SPAN ? left : HASH_SPAN;
  merkle_fetch(mine, values + HASH_VALUE_WORDS * (from + first), own);
  merkle_reduce(mine, own, 1);
  for (u32 i = thread_id(); i < HASH_VALUE_WORDS; i += thread_block_size())
    parents[HASH_VALUE_WORDS * (to + thread_block_id()) + i] = SWAP_BYTES(mine[i * HASH_SPAN]);
}

// `hash_blake3_root` makes the root of at most HASH_SPAN values, at least two, by one thread block,
// and writes the digest.
KERNEL(hash_blake3_root, HASH_THREAD_BLOCK)
(GLOBAL const u32 *values, u64 from, u32 count, GLOBAL u8 *out, u64 to, u64 digest_bytes,
 GLOBAL const u32 *key, u32 flags SHARED_PARAMETER) {
  SHARED_WORDS(mine);
  u32 words[8];
  UNROLL for (int i = 0; i < 8; ++i) words[i] = key[i];
  blake3_fetch(mine, values + HASH_VALUE_WORDS * from, count);
  blake3_reduce(mine, count, 2, words, flags);
  Blake3Node root;
  UNROLL for (int i = 0; i < 8; ++i) {
    root.block[i] = mine[i * HASH_SPAN];
    root.block[8 + i] = mine[i * HASH_SPAN + 1];
  }
  blake3_parent(words, flags, &root);
  blake3_output(&root, out + to, digest_bytes, thread_id(), thread_block_size());
}

// `hash_merkle_root` makes the root of at most HASH_SPAN values, and writes it.
KERNEL(hash_merkle_root, HASH_THREAD_BLOCK)
(GLOBAL const u32 *values, u64 from, u32 count, GLOBAL u8 *out, u64 to SHARED_PARAMETER) {
  SHARED_WORDS(mine);
  merkle_fetch(mine, values + HASH_VALUE_WORDS * from, count);
  merkle_reduce(mine, count, 1);
  for (u32 i = thread_id(); i < HASH_VALUE_WORDS; i += thread_block_size())
    bytes_store(out + to, 4 * i, 32, SWAP_BYTES(mine[i * HASH_SPAN]));
}
