// AES on two blocks, the words s[0] to s[3] and s[4] to s[7]: the S-box as the
// gates of kernels/aes_sbox_planes.h, for which 32 bytes are eight bit planes.
// A fragment has no memory of its own group's that would make a table's
// addresses harmless, and gates have none.
//
// SPDX-License-Identifier: Apache-2.0

#define SWAP_BITS(a, b, mask, shift)             \
  {                                              \
    uint both = (((a) >> shift) ^ (b)) & mask;   \
    (b) ^= both;                                 \
    (a) ^= both << shift;                        \
  }

// Bit i of byte k of word n goes to bit n of byte k of word i; and back.
void exchange_bits_and_words(inout uint s[8]) {
  for (int n = 0; n < 8; n += 2) SWAP_BITS(s[n], s[n + 1], 0x55555555u, 1)
  for (int n = 0; n < 8; n += 4) {
    SWAP_BITS(s[n], s[n + 2], 0x33333333u, 2)
    SWAP_BITS(s[n + 1], s[n + 3], 0x33333333u, 2)
  }
  for (int n = 0; n < 4; ++n) SWAP_BITS(s[n], s[n + 4], 0x0f0f0f0fu, 4)
}

// The gates take the most significant plane first.
void substitute(inout uint s[8]) {
  uint planes[8];
  exchange_bits_and_words(s);
  for (int i = 0; i < 8; ++i) planes[i] = s[7 - i];
#if INVERSE
  aes_inverse_sbox_planes(planes);
  for (int i = 0; i < 8; ++i) s[i] = planes[7 - i];
  exchange_bits_and_words(s);
#else
  aes_sbox_planes(planes);
  for (int i = 0; i < 8; ++i) s[i] = planes[7 - i];
  exchange_bits_and_words(s);
  for (int i = 0; i < 8; ++i) s[i] ^= 0x63636363u;
#endif
}

// One word from the four that ShiftRows, or its inverse, takes bytes 0 to 3 of.
uint bytes_of(uint a, uint b, uint c, uint d) {
  return (a & 0xffu) | (b & 0xff00u) | (c & 0xff0000u) | (d & 0xff000000u);
}

uint mix_column(uint a) {
#if INVERSE
  return aes_inverse_mix_column(a);
#else
  uint a2 = aes_times_x(a);
  return a2 ^ ROTATE_LEFT(a2 ^ a, 24) ^ ROTATE_LEFT(a, 16) ^ ROTATE_LEFT(a, 8);
#endif
}

// FIPS 197, 5.1 and, for decryption, 5.3.5. `schedule`: where the keys of the
// two blocks begin.
void cipher(inout uint s[8], uvec2 schedule) {
  for (uint round = 0u; round <= rounds; ++round) {
    if (round != 0u) {
      substitute(s);
      uint t[8];
      for (int n = 0; n < 8; ++n) t[n] = s[n];
      for (int b = 0; b < 8; b += 4)
        for (int n = 0; n < 4; ++n)
#if INVERSE
          s[b + n] = bytes_of(t[b + n], t[b + (n + 3) % 4], t[b + (n + 2) % 4], t[b + (n + 1) % 4]);
#else
          s[b + n] = bytes_of(t[b + n], t[b + (n + 1) % 4], t[b + (n + 2) % 4], t[b + (n + 3) % 4]);
#endif
      if (round != rounds)
        for (int n = 0; n < 8; ++n) s[n] = mix_column(s[n]);
    }
    uvec4 key0 = TEXEL(schedules, schedule.x + round), key1 = TEXEL(schedules, schedule.y + round);
    for (int n = 0; n < 4; ++n) {
      s[n] ^= key0[n];
      s[n + 4] ^= key1[n];
    }
  }
}
