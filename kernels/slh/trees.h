// Hash trees (FIPS 205, sections 6 and 8): which trees an operation has, how a group grows
// them, and how a path leads from a leaf to the root.
//
// SPDX-License-Identifier: Apache-2.0

// The parts of a signature, as offsets in words.
FN u32 SLH_NAME(fors_at)(GLOBAL const SlhShape *shape, u32 tree) {
  return SLH_WORDS * (1 + tree * (shape->fors_height + 1));
}

FN u32 SLH_NAME(layer_at)(GLOBAL const SlhShape *shape, u32 layer) {
  return SLH_NAME(fors_at)(shape, shape->fors_trees) +
         SLH_WORDS * (layer * (SLH_CHAINS + shape->tree_height));
}

FN void SLH_NAME(read)(GLOBAL const u32 *from, u32 *to) {
  UNROLL for (u32 i = 0; i < SLH_WORDS; ++i) to[i] = from[i];
}

FN void SLH_NAME(write)(GLOBAL u32 *to, const u32 *from) {
  UNROLL for (u32 i = 0; i < SLH_WORDS; ++i) to[i] = from[i];
}

FN void SLH_NAME(read_signed)(GLOBAL const u32 *from, u32 *to) {
  UNROLL for (u32 i = 0; i < SLH_WORDS; ++i) to[i] = SLH_SIGNATURE_WORD(from[i]);
}

FN void SLH_NAME(write_signed)(GLOBAL u32 *to, const u32 *from) {
  UNROLL for (u32 i = 0; i < SLH_WORDS; ++i) to[i] = SLH_SIGNATURE_WORD(from[i]);
}

// A tree, or the part of one that is grown in one go.
typedef struct SLH_NAME(Tree) {
  SlhAddress address;
  u32 item;
  u32 base;          // the height of its lowest nodes in the whole tree
  u32 first;         // the index of the first of these
  u32 wanted;        // the index of the leaf that the signature shows
  u32 height;        // of the whole tree
  GLOBAL u32 *path;  // where the signature has the path of that leaf, or null
} SLH_NAME(Tree);

// Of the lower levels of the trees of FORS: part `part` of all.
FN SLH_NAME(Tree) SLH_NAME(low_tree)(GLOBAL const SlhShape *shape, GLOBAL const SlhItem *items,
                                     GLOBAL u32 *out, u32 part) {
  SLH_NAME(Tree) tree;
  const u32 parts_bits = shape->fors_height - shape->fors_low;
  const u32 number = part >> parts_bits, place = part & ((1u << parts_bits) - 1);
  const u32 k = number % shape->fors_trees;
  tree.item = number / shape->fors_trees;
  GLOBAL const SlhItem *item = items + tree.item;
  tree.address = slh_address(0, item->tree, SLH_FORS_TREE, item->leaf);
  tree.base = 0;
  tree.first = (k << shape->fors_height) + (place << shape->fors_low);
  tree.wanted = (k << shape->fors_height) + item->fors[k];
  tree.height = shape->fors_height;
  tree.path =
      out + (u64)tree.item * shape->signature_words + SLH_NAME(fors_at)(shape, k) + SLH_WORDS;
  return tree;
}

// Of the upper levels.
FN SLH_NAME(Tree) SLH_NAME(high_tree)(GLOBAL const SlhShape *shape, GLOBAL const SlhItem *items,
                                      GLOBAL u32 *out, u32 number) {
  SLH_NAME(Tree)
  tree = SLH_NAME(low_tree)(shape, items, out, number << (shape->fors_height - shape->fors_low));
  tree.base = shape->fors_low;
  tree.first >>= shape->fors_low;
  return tree;
}

// Of a layer: tree `number` of those of all operations.
FN SLH_NAME(Tree) SLH_NAME(layer_tree)(GLOBAL const SlhShape *shape, GLOBAL const SlhItem *items,
                                       GLOBAL u32 *out, u32 number) {
  SLH_NAME(Tree) tree;
  const u32 layer = number % shape->layers + shape->first_layer;
  tree.item = number / shape->layers;
  GLOBAL const SlhItem *item = items + tree.item;
  tree.address = slh_address(layer, slh_tree_at(item, shape->tree_height, layer), SLH_TREE, 0);
  tree.base = 0;
  tree.first = 0;
  tree.wanted = slh_leaf_at(item, shape->tree_height, layer);
  tree.height = shape->tree_height;
  tree.path = 0;
  if (shape->fors_trees != 0)
    tree.path = out + (u64)tree.item * shape->signature_words + SLH_NAME(layer_at)(shape, layer) +
                SLH_WORDS * SLH_CHAINS;
  return tree;
}

// Writes a node of a level to the signature, if it is the one of that level's path.
FN void SLH_NAME(show)(const SLH_NAME(Tree) * tree, u32 level, u32 index, const u32 *node) {
  const u32 height = tree->base + level;
  if (tree->path == 0 || height >= tree->height) return;
  if (((tree->wanted >> height) ^ 1) != index) return;
  SLH_NAME(write_signed)(tree->path + SLH_WORDS * height, node);
}

// Node `index` of a level, made of the two below it.
FN void SLH_NAME(join)(const SLH_NAME(Seed) * seed, SLH_NAME(Tree) * tree, u32 level, u32 index,
                       SHARED const u32 *two, u32 *node) {
  u32 left[SLH_WORDS], right[SLH_WORDS];
  UNROLL for (u32 i = 0; i < SLH_WORDS; ++i) {
    left[i] = two[i];
    right[i] = two[SLH_WORDS + i];
  }
  tree->address.b = tree->base + level;
  tree->address.c = index;
  SLH_NAME(hash_two)(seed, &tree->address, left, right, node);
}

// From a leaf of FORS or of a layer to its root: `node`, with the path of the signature.
FN void SLH_NAME(climb)(const SLH_NAME(Seed) * seed, SlhAddress *address, u32 index, u32 height,
                        GLOBAL const u32 *path, u32 *node) {
  ROLLED for (u32 level = 0; level < height; ++level) {
    u32 other[SLH_WORDS], left[SLH_WORDS], right[SLH_WORDS];
    SLH_NAME(read_signed)(path + SLH_WORDS * level, other);
    const u32 is_right = 0 - ((index >> level) & 1);
    UNROLL for (u32 i = 0; i < SLH_WORDS; ++i) {
      const u32 difference = (node[i] ^ other[i]) & is_right;
      left[i] = node[i] ^ difference;
      right[i] = other[i] ^ difference;
    }
    address->b = level + 1;
    address->c = index >> (level + 1);
    SLH_NAME(hash_two)(seed, address, left, right, node);
  }
}
