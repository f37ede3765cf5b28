// Values of a tree's leaves become one, by the lanes of a group. Included once for each hash,
// which defines:
//   TREE_NAME(name)   the name of its functions
//   TREE_KEY          `,` and the parameters that its parents take beside two values
//   TREE_PARENT(block, value)   a parent: 16 words of two values become 8 words
//   TREE_WORD(word)   a word of a value as it lies in memory
// Level by level each two neighbours become their parent, and one without a neighbour goes up as
// it is. That is the tree of BLAKE3 and of RFC 9162: left of each parent is the largest whole
// tree that leaves something on the right.
//
// SPDX-License-Identifier: Apache-2.0

// Reduces `count` values to at most `until`; returns how many there are. Word i of value n lies
// at i * HASH_SPAN + n.
FN u32 TREE_NAME(reduce)(SHARED u32 *values, u32 count, u32 until TREE_KEY) {
  while (count > until) {
    const u32 pairs = count / 2;
    // What a step writes was read by it or by one before it.
    for (u32 first = 0; first < pairs; first += group_lanes()) {
      const u32 n = first + lane_id();
      u32 value[8];
      if (n < pairs) {
        u32 block[16];
        UNROLL for (int i = 0; i < 8; ++i) {
          block[i] = values[i * HASH_SPAN + 2 * n];
          block[8 + i] = values[i * HASH_SPAN + 2 * n + 1];
        }
        TREE_PARENT(block, value);
      }
      group_barrier();
      if (n < pairs) {
        UNROLL for (int i = 0; i < 8; ++i) values[i * HASH_SPAN + n] = value[i];
      }
      group_barrier();
    }
    if (count % 2 != 0 && lane_id() == 0) {
      UNROLL for (int i = 0; i < 8; ++i) values[i * HASH_SPAN + pairs] =
          values[i * HASH_SPAN + count - 1];
    }
    group_barrier();
    count = pairs + count % 2;
  }
  return count;
}

FN void TREE_NAME(fetch)(SHARED u32 *values, GLOBAL const u32 *from, u32 count) {
  for (u32 n = lane_id(); n < HASH_VALUE_WORDS * count; n += group_lanes())
    values[n % HASH_VALUE_WORDS * HASH_SPAN + n / HASH_VALUE_WORDS] = TREE_WORD(from[n]);
  group_barrier();
}
