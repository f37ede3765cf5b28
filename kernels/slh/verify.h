// Verification (FIPS 205, algorithm 20, after H_msg): a lane has a signature. The verdict is
// the nonce where it is right, the nonce plus one where it is wrong.
//
// SPDX-License-Identifier: Apache-2.0

// scratch: room for the ends of a key's chains, or for the roots of FORS, of each lane.
// roots: those of all layers of each signature, as it shows them.
KERNEL(SLH_NAME(verify), SLH_GROUP)
(GLOBAL const SlhShape *shape, GLOBAL u32 *signatures, GLOBAL u32 *scratch) {
  GLOBAL const SlhItem *items = SLH_ITEMS(shape);
  GLOBAL u32 *roots = signatures + shape->roots_at;
  GLOBAL u32 *verdicts = signatures + shape->verdicts_at;
  for (u32 at = group_id() * group_lanes() + lane_id(); at < shape->count;
       at += group_count() * group_lanes()) {
    GLOBAL const SlhItem *item = items + at;
    GLOBAL const u32 *signature = signatures + (u64)at * shape->signature_words;
    GLOBAL u32 *mine = scratch + (u64)at * (SLH_CHAINS * SLH_WORDS);
    SLH_NAME(Seed) seed;
    u32 node[SLH_WORDS], value[SLH_WORDS];
    SLH_NAME(load_seed)(&seed, item);
    ROLLED for (u32 k = 0; k < shape->fors_trees; ++k) {
      SLH_NAME(shown_fors_root)(&seed, shape, item, signature, k, value);
      SLH_NAME(write)(mine + k * SLH_WORDS, value);
    }
    SLH_NAME(fors_key)(&seed, shape, item, mine, node);
    ROLLED for (u32 layer = 0; layer < shape->layers; ++layer) {
      ROLLED for (u32 chain = 0; chain < SLH_CHAINS; ++chain) {
        SLH_NAME(shown_top)
        (&seed, shape, item, signature, layer, chain, SLH_NAME(digit_of)(node, chain), value);
        SLH_NAME(write)(mine + chain * SLH_WORDS, value);
      }
      SLH_NAME(shown_root)(&seed, shape, item, signature, layer, mine, node);
      SLH_NAME(write)(roots + ((u64)at * shape->layers + layer) * SLH_WORDS, node);
    }
    verdicts[at] = shape->nonce + (SLH_NAME(is_same)(node, item->pk_root) ? 0 : 1);
  }
}
