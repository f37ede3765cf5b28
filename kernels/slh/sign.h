// The last two launches of a signature: the values of the WOTS+ chains that sign the roots
// below them, and the check of all that was made. Each layer is checked beside the others:
// the path that the signature shows must lead from what it signs to the root that the layer
// above signs.
//
// SPDX-License-Identifier: Apache-2.0

// Digit i of a message in base w (FIPS 205, algorithm 4): of one byte, or of two.
FN u32 SLH_NAME(digit)(const u32 *message, u32 i) {
  const u32 first = SLH_LG_W * i, last = first + SLH_LG_W - 1;
  u32 bits = SLH_BYTE(message, last / 8);
  if (first / 8 != last / 8) bits |= SLH_BYTE(message, first / 8) << 8;
  return (bits >> (7 - last % 8)) & (SLH_CHAIN_VALUES - 1);
}

// The digit that a chain signs: of the message, or of its checksum.
FN u32 SLH_NAME(digit_of)(const u32 *message, u32 chain) {
  u32 sum = 0, digit = 0;
  UNROLL for (u32 i = 0; i < SLH_DIGITS; ++i) {
    const u32 one = SLH_NAME(digit)(message, i);
    sum += SLH_CHAIN_VALUES - 1 - one;
    digit = i == chain ? one : digit;
  }
  if (chain < SLH_DIGITS) return digit;
  return (sum >> (SLH_LG_W * (SLH_CHAINS - 1 - chain))) & (SLH_CHAIN_VALUES - 1);
}

// From the value that the signature shows to the end of the chain.
FN void SLH_NAME(end_chain)(const SLH_NAME(Seed) * seed, SlhAddress *address, u32 step,
                            u32 *value) {
  ROLLED for (; step < SLH_CHAIN_VALUES - 1; ++step) {
    address->c = step;
    SLH_NAME(hash_one)(seed, address, value, value);
  }
}

// The root of a tree of FORS as the signature shows it.
FN void SLH_NAME(shown_fors_root)(const SLH_NAME(Seed) * seed, GLOBAL const SlhShape *shape,
                                  GLOBAL const SlhItem *item, GLOBAL const u32 *signature, u32 k,
                                  u32 *node) {
  GLOBAL const u32 *shown = signature + SLH_NAME(fors_at)(shape, k);
  const u32 index = (k << shape->fors_height) + item->fors[k];
  SlhAddress address = slh_address(0, item->tree, SLH_FORS_TREE, item->leaf);
  address.c = index;
  SLH_NAME(read_signed)(shown, node);
  SLH_NAME(hash_one)(seed, &address, node, node);
  SLH_NAME(climb)(seed, &address, index, shape->fors_height, shown + SLH_WORDS, node);
}

// The end of a chain as the signature of `message` shows it.
FN void SLH_NAME(shown_top)(const SLH_NAME(Seed) * seed, GLOBAL const SlhShape *shape,
                            GLOBAL const SlhItem *item, GLOBAL const u32 *signature, u32 layer,
                            u32 chain, u32 digit, u32 *value) {
  SlhAddress address = slh_address(layer, slh_tree_at(item, shape->tree_height, layer),
                                   SLH_WOTS_HASH, slh_leaf_at(item, shape->tree_height, layer));
  address.b = chain;
  SLH_NAME(read_signed)(signature + SLH_NAME(layer_at)(shape, layer) + SLH_WORDS * chain, value);
  SLH_NAME(end_chain)(seed, &address, digit, value);
}

// The root of a layer as the signature shows it, from the ends of its chains.
FN void SLH_NAME(shown_root)(const SLH_NAME(Seed) * seed, GLOBAL const SlhShape *shape,
                             GLOBAL const SlhItem *item, GLOBAL const u32 *signature, u32 layer,
                             GLOBAL const u32 *tops, u32 *node) {
  const u64 tree = slh_tree_at(item, shape->tree_height, layer);
  const u32 leaf = slh_leaf_at(item, shape->tree_height, layer);
  SlhAddress address = slh_address(layer, tree, SLH_WOTS_PK, leaf);
  SLH_NAME(hash_many)(seed, &address, tops, SLH_CHAINS * SLH_WORDS, node);
  address = slh_address(layer, tree, SLH_TREE, 0);
  SLH_NAME(climb)
  (seed, &address, leaf, shape->tree_height,
   signature + SLH_NAME(layer_at)(shape, layer) + SLH_WORDS * SLH_CHAINS, node);
}

// A lane shows a chain and follows it to its end, or follows a tree of FORS to its root. "sign" is
// a function of OpenCL, which PoCL has as a macro.
KERNEL(SLH_NAME(reveal), SLH_GROUP)
(GLOBAL const SlhShape *shape, GLOBAL const u32 *kept, GLOBAL const u32 *fors_keys, GLOBAL u32 *out,
 GLOBAL u32 *shown_tops, GLOBAL u32 *shown_roots) {
  GLOBAL const SlhItem *items = SLH_ITEMS(shape);
  GLOBAL const u32 *roots = out + shape->roots_at;
  const u32 fors = shape->count * shape->fors_trees;
  const u32 all = fors + shape->count * shape->layers * SLH_CHAINS;
  for (u32 at = group_id() * group_lanes() + lane_id(); at < all;
       at += group_count() * group_lanes()) {
    SLH_NAME(Seed) seed;
    u32 value[SLH_WORDS], message[SLH_WORDS];
    if (at < fors) {
      const u32 number = at / shape->fors_trees;
      SLH_NAME(load_seed)(&seed, items + number);
      SLH_NAME(shown_fors_root)
      (&seed, shape, items + number, out + (u64)number * shape->signature_words,
       at % shape->fors_trees, value);
      SLH_NAME(write)(shown_roots + (u64)at * SLH_WORDS, value);
      continue;
    }
    const u32 chain = (at - fors) % SLH_CHAINS, tree = (at - fors) / SLH_CHAINS;
    const u32 layer = tree % shape->layers, number = tree / shape->layers;
    GLOBAL u32 *signature = out + (u64)number * shape->signature_words;
    SLH_NAME(load_seed)(&seed, items + number);
    SLH_NAME(read)
    (layer == 0 ? fors_keys + (u64)number * SLH_WORDS : roots + (u64)(tree - 1) * SLH_WORDS,
     message);
    const u32 digit = SLH_NAME(digit_of)(message, chain);
    SLH_NAME(read)(kept + ((u64)(at - fors) * SLH_CHAIN_VALUES + digit) * SLH_WORDS, value);
    SLH_NAME(write_signed)(signature + SLH_NAME(layer_at)(shape, layer) + SLH_WORDS * chain, value);
    SLH_NAME(shown_top)(&seed, shape, items + number, signature, layer, chain, digit, value);
    SLH_NAME(write)(shown_tops + (u64)(at - fors) * SLH_WORDS, value);
  }
}

FN u32 SLH_NAME(is_same)(const u32 *a, GLOBAL const u32 *b) {
  u32 difference = 0;
  UNROLL for (u32 i = 0; i < SLH_WORDS; ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}

// A lane checks a layer, or FORS. An operation has a verdict of FORS and one of each layer.
KERNEL(SLH_NAME(check), SLH_GROUP)
(GLOBAL const SlhShape *shape, GLOBAL const u32 *fors_keys, GLOBAL u32 *out,
 GLOBAL const u32 *shown_tops, GLOBAL const u32 *shown_roots) {
  GLOBAL const SlhItem *items = SLH_ITEMS(shape);
  GLOBAL const u32 *roots = out + shape->roots_at;
  const u32 parts = shape->layers + 1;
  for (u32 at = group_id() * group_lanes() + lane_id(); at < shape->count * parts;
       at += group_count() * group_lanes()) {
    const u32 number = at / parts, part = at % parts;
    GLOBAL const SlhItem *item = items + number;
    SLH_NAME(Seed) seed;
    u32 node[SLH_WORDS], is_right;
    SLH_NAME(load_seed)(&seed, item);
    if (part == 0) {
      SLH_NAME(fors_key)
      (&seed, shape, item, shown_roots + (u64)number * shape->fors_trees * SLH_WORDS, node);
      is_right = SLH_NAME(is_same)(node, fors_keys + (u64)number * SLH_WORDS);
    } else {
      const u32 tree = number * shape->layers + part - 1;
      SLH_NAME(shown_root)
      (&seed, shape, item, out + (u64)number * shape->signature_words, part - 1,
       shown_tops + (u64)tree * (SLH_CHAINS * SLH_WORDS), node);
      is_right = SLH_NAME(is_same)(node, roots + (u64)tree * SLH_WORDS);
      if (part == shape->layers) is_right &= SLH_NAME(is_same)(node, item->pk_root);
    }
    out[shape->verdicts_at + at] = is_right ? shape->nonce : 0;
  }
}
