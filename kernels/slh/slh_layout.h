// What host and kernels share of SLH-DSA (FIPS 205): what a launch is told, and how an
// operation lies in device memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/platform.h"

// Threads of a thread block, in every kernel of SLH-DSA.
#define SLH_THREAD_BLOCK 128

// A thread block takes so many leaves of trees at once: parts of one tree, or several trees.
#define SLH_SPAN_BITS 9
#define SLH_SPAN 512u

// Words of shared memory for the nodes of a span: one level, and half as many for the next.
#define SLH_SHARED_WORDS(n) (SLH_SPAN * 3 / 2 * ((n) / 4))

#define SLH_MOST_FORS_TREES 35
#define SLH_MOST_LAYERS 22

// The lower levels of a tree of FORS, which a thread block grows in one go.
#define SLH_FORS_LOW(height) ((height) < SLH_SPAN_BITS ? (height) : SLH_SPAN_BITS)

// A part of a tall tree, as a launch is told of it: of FORS or of the layer's tree, `levels` levels
// from the height `base` on. It is never 0.
#define SLH_PART(is_of_layer, base, levels) ((is_of_layer) | (base) << 1 | (levels) << 9)

// Words of n bytes are kept as the hash of the family reads them: big-endian for SHA-2,
// little-endian for SHAKE. Signatures are bytes.

// The inputs of one operation.
typedef struct SlhItem {
  u64 wide_state[8];    // SHA-512 after PK.seed, padded to a block
  u32 narrow_state[8];  // SHA-256 after the same
  u32 pk_seed[8], pk_root[8], sk_seed[8];
  u64 tree;                       // the index of the tree in the lowest layer
  u32 leaf;                       // and of the leaf there
  u32 fors[SLH_MOST_FORS_TREES];  // the index that each tree of FORS shows
} SlhItem;

// What is the same for all operations of a launch. To make a key is to grow the top tree
// alone: one layer, and no FORS.
typedef struct SlhShape {
  u32 count;            // operations
  u32 layers;           // of trees that are grown
  u32 first_layer;      // the number of the lowest of them
  u32 tree_height;      // h' of FIPS 205
  u32 fors_trees;       // k
  u32 fors_height;      // a
  u32 fors_low;         // the lower levels of FORS, which a thread block grows in one go
  u32 signature_words;  // of 4 bytes
  u32 launch_id;        // the verdict that means "right" in this launch
  // What lies behind the signatures, in words: the root of each tree, and then the verdicts.
  u32 roots_at, verdicts_at;
  // Of a layer's tree the part that is grown from its leaves, which is 2^part_height leaves and
  // has the one that signs among them. In tall trees alone; the others grow whole.
  u32 part_height;
} SlhShape;

// The items of a launch lie behind its shape.
#define SLH_ITEMS(shape) ((GLOBAL const SlhItem *)((shape) + 1))
