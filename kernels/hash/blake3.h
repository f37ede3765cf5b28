// BLAKE3 (J. O'Connor, J.-P. Aumasson, S. Neves, Z. Wilcox-O'Hearn, "BLAKE3: one function, fast
// everywhere"): its compression by one thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/hash/bytes.h"
#include "kernels/hash/hash_layout.h"
#include "kernels/hash/sha256.h"

// Flags, by which inputs of one kind never look like those of another.
#define BLAKE3_CHUNK_START 1u
#define BLAKE3_CHUNK_END 2u
#define BLAKE3_PARENT 4u
#define BLAKE3_ROOT 8u
#define BLAKE3_KEYED 16u
#define BLAKE3_CONTEXT 32u
#define BLAKE3_MATERIAL 64u

// An input of the compression: what a chunk or a parent ends with, before it is known whether
// that is the root.
typedef struct Blake3Node {
  u32 chain[8], block[16];
  u64 counter;
  u32 length, flags;
} Blake3Node;

#define BLAKE3_HALF(a, b, c, d, word, first, second) \
  v[a] += v[b] + (word);                             \
  v[d] = ROTATE_LEFT(v[d] ^ v[a], 32 - (first));     \
  v[c] += v[d];                                      \
  v[b] = ROTATE_LEFT(v[b] ^ v[c], 32 - (second));
#define BLAKE3_MIX(a, b, c, d, x, y)    \
  BLAKE3_HALF(a, b, c, d, m[x], 16, 12) \
  BLAKE3_HALF(a, b, c, d, m[y], 8, 7)
// A round, by the places of the block's words in it.
#define BLAKE3_ROUND(p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, pa, pb, pc, pd, pe, pf) \
  BLAKE3_MIX(0, 4, 8, 12, p0, p1)                                                    \
  BLAKE3_MIX(1, 5, 9, 13, p2, p3)                                                    \
  BLAKE3_MIX(2, 6, 10, 14, p4, p5)                                                   \
  BLAKE3_MIX(3, 7, 11, 15, p6, p7)                                                   \
  BLAKE3_MIX(0, 5, 10, 15, p8, p9)                                                   \
  BLAKE3_MIX(1, 6, 11, 12, pa, pb)                                                   \
  BLAKE3_MIX(2, 7, 8, 13, pc, pd)                                                    \
  BLAKE3_MIX(3, 4, 9, 14, pe, pf)

// The whole state after the rounds; `result` has 16 words.
FN void blake3_compress(const u32 *chain, const u32 *m, u64 counter, u32 length, u32 flags,
                        u32 *result) {
  u32 v[16];
  UNROLL for (int i = 0; i < 8; ++i) v[i] = chain[i];
  sha256_start(v + 8);  // the same constants
  v[12] = (u32)counter;
  v[13] = (u32)(counter >> 32);
  v[14] = length;
  v[15] = flags;
  BLAKE3_ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
  BLAKE3_ROUND(2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
  BLAKE3_ROUND(3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1)
  BLAKE3_ROUND(10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6)
  BLAKE3_ROUND(12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4)
  BLAKE3_ROUND(9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7)
  BLAKE3_ROUND(11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13)
  UNROLL for (int i = 0; i < 8; ++i) {
    result[i] = v[i] ^ v[i + 8];
    result[i + 8] = v[i + 8] ^ chain[i];
  }
}

FN void blake3_chain(const Blake3Node *node, u32 *chain) {
  u32 result[16];
  blake3_compress(node->chain, node->block, node->counter, node->length, node->flags, result);
  UNROLL for (int i = 0; i < 8; ++i) chain[i] = result[i];
}

// A chunk of at most BLAKE3_CHUNK bytes, up to its last block.
FN void blake3_chunk(GLOBAL const u8 *in, u64 at, u32 length, u64 counter, const u32 *key,
                     u32 flags, Blake3Node *node) {
  UNROLL for (int i = 0; i < 8; ++i) node->chain[i] = key[i];
  u32 start = BLAKE3_CHUNK_START, done = 0;
  for (; done + 64 < length; done += 64) {
    u32 result[16];
    UNROLL for (int i = 0; i < 4; ++i) {
      const Block b = bytes_block(in + at + done + 16 * i, at);
      UNROLL for (int k = 0; k < 4; ++k) node->block[4 * i + k] = b.w[k];
    }
    blake3_compress(node->chain, node->block, counter, 64, flags | start, result);
    UNROLL for (int i = 0; i < 8; ++i) node->chain[i] = result[i];
    start = 0;
  }
  const u32 left = length - done;
  if (left == 64) {
    UNROLL for (int i = 0; i < 4; ++i) {
      const Block b = bytes_block(in + at + done + 16 * i, at);
      UNROLL for (int k = 0; k < 4; ++k) node->block[4 * i + k] = b.w[k];
    }
  } else {
    UNROLL for (u32 i = 0; i < 16; ++i) node->block[i] =
        bytes_last_word(in + at + done, left, i, 0);
  }
  node->counter = counter;
  node->length = left;
  node->flags = flags | start | BLAKE3_CHUNK_END;
}

// block: the chain values of both children.
FN void blake3_parent(const u32 *key, u32 flags, Blake3Node *node) {
  UNROLL for (int i = 0; i < 8; ++i) node->chain[i] = key[i];
  node->counter = 0;
  node->length = 64;
  node->flags = flags | BLAKE3_PARENT;
}

// The output from block number `first` on, each `step`-th block of 64 bytes.
FN void blake3_output(const Blake3Node *root, GLOBAL u8 *out, u64 bytes, u64 first, u64 step) {
  for (u64 block = first; 64 * block < bytes; block += step) {
    u32 result[16];
    blake3_compress(root->chain, root->block, block, root->length, root->flags | BLAKE3_ROOT,
                    result);
    UNROLL for (u32 i = 0; i < 16; ++i) bytes_store(out, 64 * block + 4 * i, bytes, result[i]);
  }
}
