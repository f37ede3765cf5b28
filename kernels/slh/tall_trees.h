// The launches before a signature of the draft SP 800-230, whose one tree is 2^21 or 2^22 leaves
// and whose trees of FORS are no smaller. The chains of all keys would not fit into memory, so a
// lane makes one leaf after the other and keeps the leaves alone. Then each launch takes the nodes
// of a level and rises as many levels as a span has, FORS beside the layer's tree. There is one
// layer.
//
// SPDX-License-Identifier: Apache-2.0

// A kind of parts that groups grow: the lower levels of FORS, or, as SLH_PART says it, of FORS or
// of the layer's tree `levels` levels from the height `base` on.
enum { SLH_NAME(kLow) };

FN u32 SLH_NAME(levels_of)(u32 kind) { return kind >> 9; }
FN u32 SLH_NAME(base_of)(u32 kind) { return (kind >> 1) & 255; }
FN u32 SLH_NAME(is_of_layer)(u32 kind) { return kind & 1; }

// A tree has 2^(what this returns) parts of a kind.
FN u32 SLH_NAME(parts_bits)(GLOBAL const SlhShape *shape, u32 kind) {
  u32 height = shape->fors_height;
  if (SLH_NAME(is_of_layer)(kind))
    height = SLH_NAME(base_of)(kind) == 0 ? shape->grown_height : shape->tree_height;
  return height - SLH_NAME(base_of)(kind) - SLH_NAME(levels_of)(kind);
}

// Of a layer's tree the first leaf that is grown.
FN u32 SLH_NAME(first_leaf)(GLOBAL const SlhShape *shape, GLOBAL const SlhItem *item) {
  return item->leaf >> shape->grown_height << shape->grown_height;
}

FN SLH_NAME(Tree) SLH_NAME(tree_of)(GLOBAL const SlhShape *shape, GLOBAL const SlhItem *items,
                                    GLOBAL u32 *out, u32 kind, u32 part) {
  if (kind == SLH_NAME(kLow)) return SLH_NAME(low_tree)(shape, items, out, part);
  const u32 bits = SLH_NAME(parts_bits)(shape, kind), base = SLH_NAME(base_of)(kind);
  const u32 number = part >> bits, place = part & ((1u << bits) - 1);
  SLH_NAME(Tree) tree;
  if (SLH_NAME(is_of_layer)(kind)) {
    tree = SLH_NAME(layer_tree)(shape, items, out, number);
    if (base == 0) tree.first = SLH_NAME(first_leaf)(shape, items + tree.item);
  } else {
    tree = SLH_NAME(low_tree)(shape, items, out, number << (shape->fors_height - shape->fors_low));
  }
  tree.base = base;
  tree.first = (tree.first >> base) + (place << SLH_NAME(levels_of)(kind));
  return tree;
}

#include "kernels/slh/grow.h"

// The first fors_groups groups take the lower levels of FORS, the others the leaves of the
// layer's tree, a lane one after the other. tops: room for the ends of a key's chains, of each
// of these lanes.
KERNEL(SLH_NAME(sprout), SLH_GROUP)
(GLOBAL const SlhShape *shape, GLOBAL u32 *tops, GLOBAL u32 *kept, GLOBAL u32 *leaves,
 GLOBAL u32 *fors_nodes, GLOBAL u32 *out, u32 fors_groups SHARED_PARAMETER) {
  GLOBAL const SlhItem *items = SLH_ITEMS(shape);
  SHARED_WORDS(nodes);
  if (group_id() < fors_groups) {
    SLH_NAME(fors_span)(shape, items, out, fors_nodes, group_id(), nodes);
    return;
  }
  const u32 lane = (group_id() - fors_groups) * group_lanes() + lane_id();
  const u32 stride = (group_count() - fors_groups) * group_lanes();
  GLOBAL u32 *mine = tops + (u64)lane * (SLH_CHAINS * SLH_WORDS);
  ROLLED for (u32 at = lane; at < shape->count << shape->grown_height; at += stride) {
    const u32 number = at >> shape->grown_height;
    const u32 key = (number << shape->tree_height) + SLH_NAME(first_leaf)(shape, items + number) +
                    (at & ((1u << shape->grown_height) - 1));
    ROLLED for (u32 chain = 0; chain < SLH_CHAINS; ++chain)
        SLH_NAME(chain)(shape, items, mine + chain * SLH_WORDS, kept, key * SLH_CHAINS + chain);
    SLH_NAME(leaf)(shape, items, mine, leaves + (u64)at * SLH_WORDS, key);
  }
}

// A group takes a span of nodes and writes those that stand above them.
FN void SLH_NAME(rise_span)(GLOBAL const SlhShape *shape, GLOBAL u32 *out, GLOBAL const u32 *from,
                            GLOBAL u32 *to, u32 kind, u32 span, SHARED u32 *nodes) {
  GLOBAL const SlhItem *items = SLH_ITEMS(shape);
  const u32 levels = SLH_NAME(levels_of)(kind);
  const u32 trees = SLH_NAME(is_of_layer)(kind) ? shape->count : shape->count * shape->fors_trees;
  const u32 parts = trees << SLH_NAME(parts_bits)(shape, kind);
  const u32 first = span << (SLH_SPAN_BITS - levels);
  for (u32 at = lane_id(); at < SLH_SPAN; at += group_lanes()) {
    const u32 number = first + (at >> levels);
    if (number >= parts) continue;
    SLH_NAME(Tree) tree = SLH_NAME(tree_of)(shape, items, out, kind, number);
    u32 node[SLH_WORDS];
    SLH_NAME(read)(from + ((u64)span * SLH_SPAN + at) * SLH_WORDS, node);
    SLH_NAME(show)(&tree, 0, tree.first + (at & ((1u << levels) - 1)), node);
    UNROLL for (u32 i = 0; i < SLH_WORDS; ++i) nodes[at * SLH_WORDS + i] = node[i];
  }
  group_barrier();
  SLH_NAME(grow_span)(shape, items, out, to, kind, first, parts, levels, nodes);
}

// The first fors_groups groups take FORS, the others the layer's tree, whose root comes to lie
// behind the signatures.
KERNEL(SLH_NAME(rise), SLH_GROUP)
(GLOBAL const SlhShape *shape, GLOBAL const u32 *fors_from, GLOBAL u32 *fors_to,
 GLOBAL const u32 *from, GLOBAL u32 *to, GLOBAL u32 *out, u32 fors_groups, u32 fors_kind,
 u32 kind SHARED_PARAMETER) {
  SHARED_WORDS(nodes);
  if (group_id() < fors_groups) {
    SLH_NAME(rise_span)(shape, out, fors_from, fors_to, fors_kind, group_id(), nodes);
    return;
  }
  if (SLH_NAME(base_of)(kind) + SLH_NAME(levels_of)(kind) == shape->tree_height)
    to = out + shape->roots_at;
  SLH_NAME(rise_span)(shape, out, from, to, kind, group_id() - fors_groups, nodes);
}

// The public keys of FORS, a lane each.
KERNEL(SLH_NAME(bind), SLH_GROUP)
(GLOBAL const SlhShape *shape, GLOBAL const u32 *fors_roots, GLOBAL u32 *fors_keys) {
  SLH_NAME(fors_keys)
  (shape, SLH_ITEMS(shape), fors_roots, fors_keys, group_id() * group_lanes() + lane_id(),
   group_count() * group_lanes());
}
