// Loads and stores blocks at any byte of the data, which shaders see as blocks of four words.
//
// SPDX-License-Identifier: Apache-2.0

uint in_word(uint word) { return in_blocks[word / 4u][word % 4u]; }

// Loads 16 bytes from byte `at`; bytes past the end of the buffer are undefined.
uvec4 load_bytes(uint at) {
  if ((at & 15u) == 0u) return in_blocks[at / 16u];
  uint word = at / 4u, shift = 8u * (at & 3u);
  uvec4 low = uvec4(in_word(word), in_word(word + 1u), in_word(word + 2u), in_word(word + 3u));
  if (shift == 0u) return low;
  uvec4 high = uvec4(low.yzw, in_word(word + 4u));
  return (low >> shift) | (high << (32u - shift));
}

// Stores the bytes of `mask` of a word to which other threads may write too.
void merge_word(uint word, uint value, uint mask) {
  if (mask == 0u) return;
  uint block = word / 4u, keep = ~mask;
  value &= mask;
  switch (word % 4u) {
    case 0u:
      atomicAnd(out_blocks[block].x, keep);
      atomicOr(out_blocks[block].x, value);
      break;
    case 1u:
      atomicAnd(out_blocks[block].y, keep);
      atomicOr(out_blocks[block].y, value);
      break;
    case 2u:
      atomicAnd(out_blocks[block].z, keep);
      atomicOr(out_blocks[block].z, value);
      break;
    default:
      atomicAnd(out_blocks[block].w, keep);
      atomicOr(out_blocks[block].w, value);
      break;
  }
}

// Stores the first `bytes` bytes (1 to 16) of a block at byte `at`. Words that do not belong to
// this block as a whole may be written by another thread too, or do not belong to the text.
void store_bytes(uint at, uvec4 block, uint bytes) {
  if ((at & 15u) == 0u && bytes == 16u) {
    out_blocks[at / 16u] = block;
    return;
  }
  uint word = at / 4u, shift = 8u * (at & 3u);
  uint values[5], masks[5];
  for (uint i = 0u; i < 5u; ++i) values[i] = masks[i] = 0u;
  for (uint i = 0u; i < 4u; ++i) {
    uint left = bytes > 4u * i ? bytes - 4u * i : 0u;
    uint mask = left >= 4u ? ~0u : left == 0u ? 0u : ~(~0u << (8u * left));
    uint value = block[i];
    values[i] |= value << shift;
    masks[i] |= mask << shift;
    if (shift != 0u) {
      values[i + 1u] |= value >> (32u - shift);
      masks[i + 1u] |= mask >> (32u - shift);
    }
  }
  for (uint i = 0u; i < 5u; ++i) {
    uint target = word + i;
    if (masks[i] == ~0u)
      out_blocks[target / 4u][target % 4u] = values[i];
    else
      merge_word(target, values[i], masks[i]);
  }
}
