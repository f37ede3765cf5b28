// AES on two blocks, the words s[0] to s[3] and s[4] to s[7], as gates on eight bit
// planes. A fragment has no shared memory in which table lookups would not leak their
// addresses, and gates need no lookups. Bit n of byte k of plane i is bit i of byte k of
// column n, so a byte of a plane is a row: four columns of each block.
//
// ShiftRows (FIPS 197, section 5.1.2) moves nothing: after t rounds, column c of row r is
// found at column c + t r. MixColumns reads its four bytes there, and key_planes() has
// put the bytes of the round keys there.
//
// SPDX-License-Identifier: Apache-2.0

void add_key(inout uint s[8], uvec2 schedule, uint round) {
  uvec4 a = TEXEL(schedules, schedule.x + round), b = TEXEL(schedules, schedule.y + round);
  for (int n = 0; n < 4; ++n) {
    uint low = a[n], high = b[n];
    SWAP_BITS(low, high, 0x0f0f0f0fu, 4)
    s[n] ^= low;
    s[n + 4] ^= high;
  }
}

// SubBytes. The gates take the most significant plane first.
void substitute(inout uint s[8]) {
  uint planes[8];
  for (int i = 0; i < 8; ++i) planes[i] = s[7 - i];
  aes_sbox_planes(planes);
  for (int i = 0; i < 8; ++i) s[i] = planes[7 - i];
}

// Returns column c + t of each row and block.
uint turned(uint plane, int t) {
  if (t % 4 == 0) return plane;
  uint low = (0xfu >> (t % 4)) * 0x11111111u;
  return ((plane >> (t % 4)) & low) | ((plane << (4 - t % 4)) & ~low);
}

void times_x(inout uint a[8]) {
  uint top = a[7];
  for (int i = 7; i > 0; --i) a[i] = a[i - 1];
  a[0] = top;
  a[1] ^= top;
  a[3] ^= top;
  a[4] ^= top;
}

// MixColumns (FIPS 197, section 5.1.3). With y the sums of neighbours, 2 a0 + 3 a1 + a2 + a3 is 2
// y0 + a1 + y2.
void mix_columns(inout uint s[8], int t) {
  uint y[8];
  for (int i = 0; i < 8; ++i) {
    uint next = turned(ROTATE_LEFT(s[i], 24), t);
    y[i] = s[i] ^ next;
    s[i] = next ^ turned(ROTATE_LEFT(y[i], 16), 2 * t);
  }
  times_x(y);
  for (int i = 0; i < 8; ++i) s[i] ^= y[i];
}

#define MIDDLE_ROUND(n)          \
  {                              \
    substitute(s);               \
    mix_columns(s, n);    \
    add_key(s, schedule, round); \
    ++round;                     \
  }

// Encrypts both blocks. `schedule` has the texels at which the keys of the two blocks begin.
// There are 10, 12 or 14 rounds, so the last but one is the first or the third round of an
// iteration.
void cipher(inout uint s[8], uvec2 schedule) {
  exchange_bits_and_words(s);
  add_key(s, schedule, 0u);
  uint round = 1u;
  while (true) {
    MIDDLE_ROUND(1)
    if (round == rounds) break;
    MIDDLE_ROUND(2)
    MIDDLE_ROUND(3)
    if (round == rounds) break;
    MIDDLE_ROUND(4)
  }
  substitute(s);
  add_key(s, schedule, rounds);
  exchange_bits_and_words(s);
  if (rounds % 4u == 0u) return;
  // Moves the rows two columns further: t times r is 2 modulo 4 for odd rows and 0 for even ones.
  for (int b = 0; b < 8; b += 4)
    for (int n = 0; n < 2; ++n) SWAP_BITS(s[b + n], s[b + n + 2], 0xff00ff00u, 0)
}
