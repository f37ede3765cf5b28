// How trees grow from their leaves: FORS, the chains of WOTS+ keys, and the levels that one group
// joins in local memory. tree_of(), which says what a part of a tree is, comes before this.
//
// SPDX-License-Identifier: Apache-2.0

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
FN void SLH_NAME(chain)(GLOBAL const SlhShape *shape, GLOBAL const SlhItem *items, GLOBAL u32 *top,
                        GLOBAL u32 *kept, u32 number) {
  const u32 chain = number % SLH_CHAINS, key = number / SLH_CHAINS;
  const u32 leaf = key & ((1u << shape->tree_height) - 1), tree = key >> shape->tree_height;
  const u32 layer = tree % shape->layers + shape->first_layer;
  GLOBAL const SlhItem *item = items + tree / shape->layers;
  SlhAddress address =
      slh_address(layer, slh_tree_at(item, shape->tree_height, layer), SLH_WOTS_PRF, leaf);
  const u32 is_kept =
      shape->fors_trees != 0 && leaf == slh_leaf_at(item, shape->tree_height, layer);
  GLOBAL u32 *keep = kept + ((u64)tree * SLH_CHAINS + chain) * (SLH_CHAIN_VALUES * SLH_WORDS);
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
  SLH_NAME(write)(top, value);
}

// The public key of WOTS+ number `key` of all, compressed to a leaf, from the ends of its chains.
FN void SLH_NAME(leaf)(GLOBAL const SlhShape *shape, GLOBAL const SlhItem *items,
                       GLOBAL const u32 *tops, GLOBAL u32 *to, u32 key) {
  const u32 tree = key >> shape->tree_height;
  const u32 layer = tree % shape->layers + shape->first_layer;
  GLOBAL const SlhItem *item = items + tree / shape->layers;
  const SlhAddress address = slh_address(layer, slh_tree_at(item, shape->tree_height, layer),
                                         SLH_WOTS_PK, key & ((1u << shape->tree_height) - 1));
  SLH_NAME(Seed) seed;
  u32 leaf[SLH_WORDS];
  SLH_NAME(load_seed)(&seed, item);
  SLH_NAME(hash_many)(&seed, &address, tops, SLH_CHAINS * SLH_WORDS, leaf);
  SLH_NAME(write)(to, leaf);
}

// What FORS signs with, from its roots.
FN void SLH_NAME(fors_key)(const SLH_NAME(Seed) * seed, GLOBAL const SlhShape *shape,
                           GLOBAL const SlhItem *item, GLOBAL const u32 *roots, u32 *key) {
  const SlhAddress address = slh_address(0, item->tree, SLH_FORS_ROOTS, item->leaf);
  SLH_NAME(hash_many)(seed, &address, roots, shape->fors_trees * SLH_WORDS, key);
}

// The public keys of FORS, from operation `first` on, of which every `stride`-th is this lane's.
FN void SLH_NAME(fors_keys)(GLOBAL const SlhShape *shape, GLOBAL const SlhItem *items,
                            GLOBAL const u32 *roots, GLOBAL u32 *keys, u32 first, u32 stride) {
  for (u32 at = first; at < shape->count; at += stride) {
    SLH_NAME(Seed) seed;
    u32 key[SLH_WORDS];
    SLH_NAME(load_seed)(&seed, items + at);
    SLH_NAME(fors_key)
    (&seed, shape, items + at, roots + (u64)at * shape->fors_trees * SLH_WORDS, key);
    SLH_NAME(write)(keys + (u64)at * SLH_WORDS, key);
  }
}
