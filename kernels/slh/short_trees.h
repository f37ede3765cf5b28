// The first three launches of a signature. The trees of all layers depend on the index alone,
// so all are grown at once: the chains of every WOTS+ key and the lower levels of FORS; then
// the leaves and the upper levels of FORS; then the trees of the layers. A tree of a layer is
// no higher than a span, and one of FORS no higher than two.
//
// SPDX-License-Identifier: Apache-2.0

enum { SLH_NAME(kLow), SLH_NAME(kHigh), SLH_NAME(kLayer) };

FN SLH_NAME(Tree) SLH_NAME(tree_of)(GLOBAL const SlhShape *shape, GLOBAL const SlhItem *items,
                                    GLOBAL u32 *out, u32 kind, u32 number) {
  if (kind == SLH_NAME(kLow)) return SLH_NAME(low_tree)(shape, items, out, number);
  if (kind == SLH_NAME(kHigh)) return SLH_NAME(high_tree)(shape, items, out, number);
  return SLH_NAME(layer_tree)(shape, items, out, number);
}

#include "kernels/slh/grow.h"

// The first fors_groups groups take FORS, the others the chains.
KERNEL(SLH_NAME(grow), SLH_GROUP)
(GLOBAL const SlhShape *shape, GLOBAL u32 *tops, GLOBAL u32 *kept, GLOBAL u32 *fors_nodes,
 GLOBAL u32 *out, u32 fors_groups SHARED_PARAMETER) {
  GLOBAL const SlhItem *items = SLH_ITEMS(shape);
  SHARED_WORDS(nodes);
  if (group_id() < fors_groups) {
    SLH_NAME(fors_span)(shape, items, out, fors_nodes, group_id(), nodes);
    return;
  }
  const u32 chains = (shape->count * shape->layers << shape->tree_height) * SLH_CHAINS;
  const u32 stride = (group_count() - fors_groups) * group_lanes();
  for (u32 at = (group_id() - fors_groups) * group_lanes() + lane_id(); at < chains; at += stride)
    SLH_NAME(chain)(shape, items, tops + (u64)at * SLH_WORDS, kept, at);
}

// A WOTS+ public key, compressed to a leaf, by a lane; and in the first fors_groups groups
// the upper levels of FORS.
KERNEL(SLH_NAME(leaves), SLH_GROUP)
(GLOBAL const SlhShape *shape, GLOBAL const u32 *tops, GLOBAL u32 *leaves,
 GLOBAL const u32 *fors_nodes, GLOBAL u32 *fors_roots, GLOBAL u32 *out,
 u32 fors_groups SHARED_PARAMETER) {
  GLOBAL const SlhItem *items = SLH_ITEMS(shape);
  SHARED_WORDS(nodes);
  if (group_id() < fors_groups) {
    const u32 height = shape->fors_height - shape->fors_low;
    const u32 trees = shape->count * shape->fors_trees;
    const u32 first = group_id() << (SLH_SPAN_BITS - height);
    for (u32 at = lane_id(); at < SLH_SPAN; at += group_lanes()) {
      if (first + (at >> height) >= trees) continue;
      UNROLL for (u32 i = 0; i < SLH_WORDS; ++i) nodes[at * SLH_WORDS + i] =
          fors_nodes[((u64)group_id() * SLH_SPAN + at) * SLH_WORDS + i];
    }
    group_barrier();
    SLH_NAME(grow_span)
    (shape, items, out, fors_roots, SLH_NAME(kHigh), first, trees, height, nodes);
    return;
  }
  const u32 keys = shape->count * shape->layers << shape->tree_height;
  const u32 stride = (group_count() - fors_groups) * group_lanes();
  for (u32 key = (group_id() - fors_groups) * group_lanes() + lane_id(); key < keys;
       key += stride) {
    SLH_NAME(leaf)
    (shape, items, tops + (u64)key * (SLH_CHAINS * SLH_WORDS), leaves + (u64)key * SLH_WORDS, key);
  }
}

// The trees of the layers; in the first fors_groups groups the public keys of FORS, a lane
// each.
KERNEL(SLH_NAME(trees), SLH_GROUP)
(GLOBAL const SlhShape *shape, GLOBAL const u32 *leaves, GLOBAL const u32 *fors_roots,
 GLOBAL u32 *fors_keys, GLOBAL u32 *out, u32 fors_groups SHARED_PARAMETER) {
  GLOBAL const SlhItem *items = SLH_ITEMS(shape);
  SHARED_WORDS(nodes);
  if (group_id() < fors_groups) {
    SLH_NAME(fors_keys)
    (shape, items, fors_roots, fors_keys, group_id() * group_lanes() + lane_id(),
     fors_groups * group_lanes());
    return;
  }
  const u32 height = shape->tree_height, trees = shape->count * shape->layers;
  const u32 span = group_id() - fors_groups, first = span << (SLH_SPAN_BITS - height);
  for (u32 at = lane_id(); at < SLH_SPAN; at += group_lanes()) {
    const u32 number = first + (at >> height), index = at & ((1u << height) - 1);
    if (number >= trees) continue;
    SLH_NAME(Tree) tree = SLH_NAME(layer_tree)(shape, items, out, number);
    u32 node[SLH_WORDS];
    SLH_NAME(read)(leaves + ((u64)span * SLH_SPAN + at) * SLH_WORDS, node);
    SLH_NAME(show)(&tree, 0, index, node);
    UNROLL for (u32 i = 0; i < SLH_WORDS; ++i) nodes[at * SLH_WORDS + i] = node[i];
  }
  group_barrier();
  SLH_NAME(grow_span)
  (shape, items, out, out + shape->roots_at, SLH_NAME(kLayer), first, trees, height, nodes);
}
