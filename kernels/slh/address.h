// The address of a hash (FIPS 205, section 4.2), before a hash family packs it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/slh/slh_layout.h"

// The types of addresses (FIPS 205, section 4.2), with their numbers.
enum {
  SLH_WOTS_HASH,
  SLH_WOTS_PK,
  SLH_TREE,
  SLH_FORS_TREE,
  SLH_FORS_ROOTS,
  SLH_WOTS_PRF,
  SLH_FORS_PRF
};

// `SlhAddress` is an ADRS. `a`, `b` and `c` are the three words that depend on the type.
typedef struct SlhAddress {
  u64 tree;
  u32 layer, type, a, b, c;
} SlhAddress;

FN SlhAddress slh_address(u32 layer, u64 tree, u32 type, u32 a) {
  SlhAddress address;
  address.tree = tree;
  address.layer = layer;
  address.type = type;
  address.a = a;
  address.b = 0;
  address.c = 0;
  return address;
}

// `slh_tree_at` returns the index of the tree that signs in `layer`, `slh_leaf_at` that of its leaf
// (FIPS 205, Algorithm 12, ht_sign). The top layer of the sets of 256 bits would shift by all 64
// bits, which C leaves undefined.
FN u64 slh_tree_at(GLOBAL const SlhItem *item, u32 tree_height, u32 layer) {
  const u32 shift = tree_height * layer;
  return shift > 63 ? 0 : item->tree >> shift;
}

FN u32 slh_leaf_at(GLOBAL const SlhItem *item, u32 tree_height, u32 layer) {
  if (layer == 0) return item->leaf;
  return (u32)slh_tree_at(item, tree_height, layer - 1) & ((1u << tree_height) - 1);
}
