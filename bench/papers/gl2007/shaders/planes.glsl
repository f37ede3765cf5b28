// Converts words to the bit planes that gates.glsl computes on.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define SWAP_BITS(a, b, mask, shift)             \
  {                                              \
    uint both = (((a) >> shift) ^ (b)) & mask;   \
    (b) ^= both;                                 \
    (a) ^= both << shift;                        \
  }

// Converts words to planes, or planes to words.
void exchange_bits_and_words(inout uint s[8]) {
  for (int n = 0; n < 8; n += 2) SWAP_BITS(s[n], s[n + 1], 0x55555555u, 1)
  for (int n = 0; n < 8; n += 4) {
    SWAP_BITS(s[n], s[n + 2], 0x33333333u, 2)
    SWAP_BITS(s[n + 1], s[n + 3], 0x33333333u, 2)
  }
  for (int n = 0; n < 4; ++n) SWAP_BITS(s[n], s[n + 4], 0x0f0f0f0fu, 4)
}

// Converts a round key's four words to planes up to the last step, which combines two blocks. `t`
// is the number of the round modulo 4. `constant` is the constant that the gates of the S-box
// leave out; it is added to the round keys, because MixColumns does not change it.
uvec4 key_planes(uvec4 key, uint t, uint constant) {
  uint w[4];
  for (uint d = 0u; d < 4u; ++d) {
    w[d] = constant;
    for (uint r = 0u; r < 4u; ++r) w[d] ^= key[(d + (4u - t) * r) % 4u] & (0xffu << (8u * r));
  }
  SWAP_BITS(w[0], w[1], 0x55555555u, 1)
  SWAP_BITS(w[2], w[3], 0x55555555u, 1)
  SWAP_BITS(w[0], w[2], 0x33333333u, 2)
  SWAP_BITS(w[1], w[3], 0x33333333u, 2)
  return uvec4(w[0], w[1], w[2], w[3]);
}
