// BLAKE3 (J. O'Connor, J.-P. Aumasson, S. Neves, Z. Wilcox-O'Hearn, "BLAKE3: one function, fast
// everywhere"): the compression function, chunks, parents and output, each by one thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/hash/bytes.h"
#include "kernels/hash/hash_layout.h"
#include "kernels/hash/sha256.h"

// Domain flags of the compression function (BLAKE3 paper, section 2.2). They keep inputs of one
// kind from being taken for inputs of another.
#define BLAKE3_CHUNK_START 1u
#define BLAKE3_CHUNK_END 2u
#define BLAKE3_PARENT 4u
#define BLAKE3_ROOT 8u
#define BLAKE3_KEYED 16u
#define BLAKE3_CONTEXT 32u
#define BLAKE3_MATERIAL 64u

// `Blake3Node` is an input of the compression function: the last block of a chunk, or a parent. It
// is kept uncompressed because only its caller knows whether it is the root.
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
// `BLAKE3_ROUND` is one of the seven rounds. Its arguments are the indices of the message words, in
// the order in which the round uses them.
#define BLAKE3_ROUND(p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, pa, pb, pc, pd, pe, pf) \
  BLAKE3_MIX(0, 4, 8, 12, p0, p1)                                                    \
  BLAKE3_MIX(1, 5, 9, 13, p2, p3)                                                    \
  BLAKE3_MIX(2, 6, 10, 14, p4, p5)                                                   \
  BLAKE3_MIX(3, 7, 11, 15, p6, p7)                                                   \
  BLAKE3_MIX(0, 5, 10, 15, p8, p9)                                                   \
  BLAKE3_MIX(1, 6, 11, 12, pa, pb)                                                   \
  BLAKE3_MIX(2, 7, 8, 13, pc, pd)                                                    \
  BLAKE3_MIX(3, 4, 9, 14, pe, pf)

// The compression function (BLAKE3 paper, section 2.2). Writes all 16 words of the state after the
// rounds to `result`; the first 8 are the chaining value.
FN void blake3_compress(const u32 *chain, const u32 *m, u64 counter, u32 length, u32 flags,
                        u32 *result) {
  u32 v[16];
  UNROLL for (int i = 0; i < 8; ++i) v[i] = chain[i];
  sha256_start(v + 8);  // BLAKE3 and SHA-256 share these constants
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

// `blake3_chain` writes the chaining value of a node that is not the root: 8 words.
FN void blake3_chain(const Blake3Node *node, u32 *chain) {
  u32 result[16];
  blake3_compress(node->chain, node->block, node->counter, node->length, node->flags, result);
  UNROLL for (int i = 0; i < 8; ++i) chain[i] = result[i];
}

// `blake3_chunk` compresses a chunk of at most BLAKE3_CHUNK bytes up to its last block, which it
// leaves in `node` (BLAKE3 paper, section 2.4). `at` is the chunk's distance from `in`, `counter`
// its number in the message.
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

// `blake3_parent` makes a parent node (BLAKE3 paper, section 2.5). The caller has put the chaining
// values of both children into node->block.
FN void blake3_parent(const u32 *key, u32 flags, Blake3Node *node) {
  UNROLL for (int i = 0; i < 8; ++i) node->chain[i] = key[i];
  node->counter = 0;
  node->length = 64;
  node->flags = flags | BLAKE3_PARENT;
}

// `blake3_output` writes the root's output (BLAKE3 paper, section 2.6): the blocks of 64 bytes with
// the numbers `first`, `first + step` and so on, as far as `bytes` reaches.
FN void blake3_output(const Blake3Node *root, GLOBAL u8 *out, u64 bytes, u64 first, u64 step) {
  for (u64 block = first; 64 * block < bytes; block += step) {
    u32 result[16];
    blake3_compress(root->chain, root->block, block, root->length, root->flags | BLAKE3_ROOT,
                    result);
    UNROLL for (u32 i = 0; i < 16; ++i) bytes_store(out, 64 * block + 4 * i, bytes, result[i]);
  }
}
