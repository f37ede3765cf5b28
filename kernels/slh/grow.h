// The first three launches of a signature. The trees of all layers depend on the index alone,
// so all are grown at once: the chains of every WOTS+ key and the lower levels of FORS; then
// the leaves and the upper levels of FORS; then the trees of the layers.
//
// SPDX-License-Identifier: Apache-2.0

enum { SLH_NAME(kLow), SLH_NAME(kHigh), SLH_NAME(kLayer) };

FN SLH_NAME(Tree) SLH_NAME(tree_of)(GLOBAL const SlhShape *shape, GLOBAL const SlhItem *items,
                                    GLOBAL u32 *out, u32 kind, u32 number) {
  if (kind == SLH_NAME(kLow)) return SLH_NAME(low_tree)(shape, items, out, number);
  if (kind == SLH_NAME(kHigh)) return SLH_NAME(high_tree)(shape, items, out, number);
  return SLH_NAME(layer_tree)(shape, items, out, number);
}

// A group grows trees first, first + 1 and so on, as many as a span has room for, whose
// lowest nodes lie in `nodes`. Writes roots[number] of each, of `trees` in all.
FN void SLH_NAME(grow_span)(GLOBAL const SlhShape *shape, GLOBAL const SlhItem *items,
                            GLOBAL u32 *out, GLOBAL u32 *roots, u32 kind, u32 first, u32 trees,
                            u32 height, SHARED u32 *nodes) {
  SHARED u32 *below = nodes;
  SHARED u32 *above = nodes + SLH_SPAN * SLH_WORDS;
  for (u32 level = 1; level <= height; ++level) {
    for (u32 at = lane_id(); at < SLH_SPAN >> level; at += group_lanes()) {
      const u32 number = first + (at >> (height - level));
      if (number >= trees) continue;
      SLH_NAME(Tree) tree = SLH_NAME(tree_of)(shape, items, out, kind, number);
      SLH_NAME(Seed) seed;
      SLH_NAME(load_seed)(&seed, items + tree.item);
      const u32 index = (tree.first >> level) + (at & ((1u << (height - level)) - 1));
      u32 node[SLH_WORDS];
      SLH_NAME(join)(&seed, &tree, level, index, below + 2 * at * SLH_WORDS, node);
      SLH_NAME(show)(&tree, level, index, node);
      UNROLL for (u32 i = 0; i < SLH_WORDS; ++i) above[at * SLH_WORDS + i] = node[i];
    }
    group_barrier();
    SHARED u32 *made = above;
    above = below;
    below = made;
  }
  for (u32 at = lane_id(); at < SLH_SPAN >> height; at += group_lanes()) {
    if (first + at >= trees) continue;
    UNROLL for (u32 i = 0; i < SLH_WORDS; ++i) roots[(u64)(first + at) * SLH_WORDS + i] =
        below[at * SLH_WORDS + i];
  }
  group_barrier();
}

// The secret leaves of FORS, one of which of each tree the signature shows.
FN void SLH_NAME(fors_leaf)(const SLH_NAME(Seed) * seed, GLOBAL const SlhItem *item,
                            SLH_NAME(Tree) * tree, u32 index, u32 *node) {
  u32 secret[SLH_WORDS];
  SLH_NAME(read)(item->sk_seed, secret);
  SlhAddress address = tree->address;
  address.type = SLH_FORS_PRF;
  address.c = index;
  SLH_NAME(hash_one)(seed, &address, secret, node);
  if (index == tree->wanted) SLH_NAME(write_signed)(tree->path - SLH_WORDS, node);
  address.type = SLH_FORS_TREE;
  SLH_NAME(hash_one)(seed, &address, node, node);
}

FN void SLH_NAME(fors_span)(GLOBAL const SlhShape *shape, GLOBAL const SlhItem *items,
                            GLOBAL u32 *out, GLOBAL u32 *fors_nodes, u32 span, SHARED u32 *nodes) {
  const u32 height = shape->fors_low;
  const u32 trees = shape->count * shape->fors_trees << (shape->fors_height - height);
  const u32 first = span << (SLH_SPAN_BITS - height);
  for (u32 at = lane_id(); at < SLH_SPAN; at += group_lanes()) {
    const u32 number = first + (at >> height);
    if (number >= trees) continue;
    SLH_NAME(Tree) tree = SLH_NAME(low_tree)(shape, items, out, number);
    SLH_NAME(Seed) seed;
    SLH_NAME(load_seed)(&seed, items + tree.item);
    const u32 index = tree.first + (at & ((1u << height) - 1));
    u32 node[SLH_WORDS];
    SLH_NAME(fors_leaf)(&seed, items + tree.item, &tree, index, node);
    SLH_NAME(show)(&tree, 0, index, node);
    UNROLL for (u32 i = 0; i < SLH_WORDS; ++i) nodes[at * SLH_WORDS + i] = node[i];
  }
  group_barrier();
  SLH_NAME(grow_span)(shape, items, out, fors_nodes, SLH_NAME(kLow), first, trees, height, nodes);
}

// A chain of a WOTS+ key, from its secret to its end. Of the leaf that signs, the values are
// kept: the signature shows one of them.
FN void SLH_NAME(chain)(GLOBAL const SlhShape *shape, GLOBAL const SlhItem *items, GLOBAL u32 *tops,
                        GLOBAL u32 *kept, u32 number) {
  const u32 chain = number % SLH_CHAINS(SLH_N), key = number / SLH_CHAINS(SLH_N);
  const u32 leaf = key & ((1u << shape->tree_height) - 1), tree = key >> shape->tree_height;
  const u32 layer = tree % shape->layers + shape->first_layer;
  GLOBAL const SlhItem *item = items + tree / shape->layers;
  SlhAddress address =
      slh_address(layer, slh_tree_at(item, shape->tree_height, layer), SLH_WOTS_PRF, leaf);
  const u32 is_kept =
      shape->fors_trees != 0 && leaf == slh_leaf_at(item, shape->tree_height, layer);
  GLOBAL u32 *keep =
      kept + ((u64)tree * SLH_CHAINS(SLH_N) + chain) * (SLH_CHAIN_VALUES * SLH_WORDS);
  SLH_NAME(Seed) seed;
  u32 value[SLH_WORDS];
  SLH_NAME(load_seed)(&seed, item);
  SLH_NAME(read)(item->sk_seed, value);
  address.b = chain;
  SLH_NAME(hash_one)(&seed, &address, value, value);
  address.type = SLH_WOTS_HASH;
  ROLLED for (u32 step = 0; step < SLH_CHAIN_VALUES - 1; ++step) {
    if (is_kept) SLH_NAME(write)(keep + step * SLH_WORDS, value);
    address.c = step;
    SLH_NAME(hash_one)(&seed, &address, value, value);
  }
  if (is_kept) SLH_NAME(write)(keep + (SLH_CHAIN_VALUES - 1) * SLH_WORDS, value);
  SLH_NAME(write)(tops + (u64)number * SLH_WORDS, value);
}

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
  const u32 chains = (shape->count * shape->layers << shape->tree_height) * SLH_CHAINS(SLH_N);
  const u32 stride = (group_count() - fors_groups) * group_lanes();
  for (u32 at = (group_id() - fors_groups) * group_lanes() + lane_id(); at < chains; at += stride)
    SLH_NAME(chain)(shape, items, tops, kept, at);
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
    const u32 tree = key >> shape->tree_height;
    const u32 layer = tree % shape->layers + shape->first_layer;
    GLOBAL const SlhItem *item = items + tree / shape->layers;
    const SlhAddress address = slh_address(layer, slh_tree_at(item, shape->tree_height, layer),
                                           SLH_WOTS_PK, key & ((1u << shape->tree_height) - 1));
    SLH_NAME(Seed) seed;
    u32 leaf[SLH_WORDS];
    SLH_NAME(load_seed)(&seed, item);
    SLH_NAME(hash_many)
    (&seed, &address, tops + (u64)key * (SLH_CHAINS(SLH_N) * SLH_WORDS),
     SLH_CHAINS(SLH_N) * SLH_WORDS, leaf);
    SLH_NAME(write)(leaves + (u64)key * SLH_WORDS, leaf);
  }
}

// What FORS signs with, from its roots.
FN void SLH_NAME(fors_key)(const SLH_NAME(Seed) * seed, GLOBAL const SlhShape *shape,
                           GLOBAL const SlhItem *item, GLOBAL const u32 *roots, u32 *key) {
  const SlhAddress address = slh_address(0, item->tree, SLH_FORS_ROOTS, item->leaf);
  SLH_NAME(hash_many)(seed, &address, roots, shape->fors_trees * SLH_WORDS, key);
}

// The trees of the layers; in the first fors_groups groups the public keys of FORS, a lane
// each.
KERNEL(SLH_NAME(trees), SLH_GROUP)
(GLOBAL const SlhShape *shape, GLOBAL const u32 *leaves, GLOBAL const u32 *fors_roots,
 GLOBAL u32 *fors_keys, GLOBAL u32 *out, u32 fors_groups SHARED_PARAMETER) {
  GLOBAL const SlhItem *items = SLH_ITEMS(shape);
  SHARED_WORDS(nodes);
  if (group_id() < fors_groups) {
    for (u32 at = group_id() * group_lanes() + lane_id(); at < shape->count;
         at += fors_groups * group_lanes()) {
      SLH_NAME(Seed) seed;
      u32 key[SLH_WORDS];
      SLH_NAME(load_seed)(&seed, items + at);
      SLH_NAME(fors_key)
      (&seed, shape, items + at, fors_roots + (u64)at * shape->fors_trees * SLH_WORDS, key);
      SLH_NAME(write)(fors_keys + (u64)at * SLH_WORDS, key);
    }
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
