// Constants and structures that the host and the kernels share for SLH-DSA (FIPS 205): the
// description of a launch, and the layout of an operation in device memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/platform.h"

// Threads in a thread block, in every SLH-DSA kernel.
#define SLH_THREAD_BLOCK 128

// `SLH_SPAN` is the number of leaves that a thread block takes at once: a part of one tree, or
// several trees.
#define SLH_SPAN_BITS 9
#define SLH_SPAN 512u

// Words of shared memory for the nodes of a span: one level, and half as many for the next.
#define SLH_SHARED_WORDS(n) (SLH_SPAN * 3 / 2 * ((n) / 4))

#define SLH_MOST_FORS_TREES 35
#define SLH_MOST_LAYERS 22

// `SLH_FORS_LOW` is how many lower levels of a FORS tree a thread block computes at once.
#define SLH_FORS_LOW(height) ((height) < SLH_SPAN_BITS ? (height) : SLH_SPAN_BITS)

// `SLH_PART` describes a part of a tall tree to a launch: `levels` levels from the height `base`
// on, of a FORS tree or (`is_of_layer`) of the layer's tree. It is never 0.
#define SLH_PART(is_of_layer, base, levels) ((is_of_layer) | (base) << 1 | (levels) << 9)

// Values of n bytes are stored as words in the byte order of the hash family: big-endian for SHA-2,
// little-endian for SHAKE. Signatures are bytes.

// `SlhItem` holds the inputs of one operation.
typedef struct SlhItem {
  u64 wide_state[8];    // SHA-512 after PK.seed, padded to a block
  u32 narrow_state[8];  // SHA-256 after PK.seed, padded to a block
  u32 pk_seed[8], pk_root[8], sk_seed[8];
  u64 tree;                       // the index of the tree in the lowest layer
  u32 leaf;                       // the index of the leaf in that tree
  u32 fors[SLH_MOST_FORS_TREES];  // the index of the leaf that each FORS tree reveals
} SlhItem;

// `SlhShape` is what all operations of a launch have in common. Key generation computes the top
// tree only: one layer, and no FORS.
typedef struct SlhShape {
  u32 count;            // operations
  u32 layers;           // of trees that are computed
  u32 first_layer;      // the number of the lowest of them
  u32 tree_height;      // h' of FIPS 205
  u32 fors_trees;       // k
  u32 fors_height;      // a
  u32 fors_low;         // the lower levels of FORS, which a thread block computes at once
  u32 signature_words;  // of 4 bytes
  u32 launch_id;        // the verdict that means "right" in this launch
  // Offsets in words, after the signatures: the root of each tree, and then the verdicts.
  u32 roots_at, verdicts_at;
  // The part of a layer's tree that is computed from its leaves: the 2^part_height leaves that
  // include the one that signs. Only for tall trees; others are computed completely.
  u32 part_height;
} SlhShape;

// The items of a launch follow its shape in memory.
#define SLH_ITEMS(shape) ((GLOBAL const SlhItem *)((shape) + 1))
