// AES by fragment shaders with integers: a pixel is a block of 16 bytes, and a
// fragment computes two blocks, n and n + half_blocks, for two targets.
// fragment_kernels.cpp defines these macros in front:
//   LC_EXPAND_KEYS, LC_KEY_PLANES, LC_ECB, ...  1 for the wanted kernel, else 0
//   ROW                                  pixels in a row of every texture
//   SCHEDULE_TEXELS, KEY_TEXELS          of a key schedule, and of a raw key
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/aes/aes_word.h"
#include "planes.glsl"

#define TEXEL(texture, n) texelFetch(texture, ivec2(int((n) % ROW), int((n) / ROW)), 0)

uint pixel_number() { return uint(gl_FragCoord.y) * ROW + uint(gl_FragCoord.x); }

#if LC_EXPAND_KEYS

uniform usampler2D keys;
uniform uint key_words;
layout(location = 0) out uvec4 round_key;

// Computes the key schedule (FIPS 197, section 5.2) like kernels/aes/aes_key.h, but every
// fragment computes it from the key up to its own round key.
void main() {
  uint key = pixel_number() / SCHEDULE_TEXELS, round = pixel_number() % SCHEDULE_TEXELS;
  uint rounds = key_words + 6u;
  round_key = uvec4(0u);
  if (round > rounds) return;
  uvec4 low = TEXEL(keys, key * KEY_TEXELS), high = TEXEL(keys, key * KEY_TEXELS + 1u);
  uint recent[8];
  for (int i = 0; i < 4; ++i) {
    recent[i] = low[i];
    recent[i + 4] = high[i];
  }
  uint round_constant = 1u, at = 0u;
  for (uint i = 0u; i < 4u * (round + 1u); ++i) {
    if (i >= key_words) {
      uint last = recent[at == 0u ? key_words - 1u : at - 1u];
      if (at == 0u) {
        last = aes_sub_word(ROTATE_LEFT(last, 24)) ^ round_constant;
        round_constant = aes_times_x(round_constant);
      } else if (key_words == 8u && at == 4u) {
        last = aes_sub_word(last);
      }
      recent[at] ^= last;
    }
    round_key[i % 4u] = recent[at];
    at = at + 1u == key_words ? 0u : at + 1u;
  }
}

#elif LC_KEY_PLANES

uniform usampler2D keys;
layout(location = 0) out uvec4 key;

void main() {
  uint round = pixel_number() % SCHEDULE_TEXELS;
  key = key_planes(TEXEL(keys, pixel_number()), round % 4u, round == 0u ? 0u : 0x63636363u);
}

#elif LC_XOR_BLOCKS

uniform usampler2D blocks_in;
uniform usampler2D others_in;
layout(location = 0) out uvec4 result;

void main() { result = TEXEL(blocks_in, pixel_number()) ^ TEXEL(others_in, pixel_number()); }

#elif LC_PLACES

layout(location = 0) out uvec4 place;

// Works long enough that the first free multiprocessors do not take the whole picture.
void main() {
  uint work = pixel_number();
  for (int n = 0; n < 500; ++n) work = work * 1664525u + 1013904223u;
  place = uvec4(gl_SMIDNV, gl_SMCountNV, work, 0u);
}

#else

// A piece has two texels: first the index of its first block in this pass, the number of that
// block in the message (CTR) and the index of its schedule; then its IV.
uniform usampler2D pieces;
uniform usampler2D schedules;  // in the form that LC_KEY_PLANES writes
uniform usampler2D blocks_in;
uniform uint count, blocks, half_blocks, rounds;
layout(location = 0) out uvec4 result0;
layout(location = 1) out uvec4 result1;

#include "gates.glsl"

uint find_piece(uint block) {
  uint low = 0u, high = count;
  while (high - low > 1u) {
    uint middle = low + (high - low) / 2u;
    if (TEXEL(pieces, 2u * middle).x <= block)
      low = middle;
    else
      high = middle;
  }
  return low;
}

// Returns the big-endian counter block `number` blocks after `first`.
uvec4 counter_block(uvec4 first, uint number) {
  uint w3 = SWAP_BYTES(first.w) + number;
  uint carry = w3 < number ? 1u : 0u;
  uint w2 = SWAP_BYTES(first.z) + carry;
  carry = carry != 0u && w2 == 0u ? 1u : 0u;
  uint w1 = SWAP_BYTES(first.y) + carry;
  carry = carry != 0u && w1 == 0u ? 1u : 0u;
  uint w0 = SWAP_BYTES(first.x) + carry;
  return uvec4(SWAP_BYTES(w0), SWAP_BYTES(w1), SWAP_BYTES(w2), SWAP_BYTES(w3));
}

// Sets the cipher's input for a block, the value that its output is XORed with, and the index of
// the first texel of its schedule.
void begin(uint block, out uvec4 state, out uvec4 after, out uint schedule) {
  uint p = find_piece(block);
  uvec4 piece = TEXEL(pieces, 2u * p), iv = TEXEL(pieces, 2u * p + 1u);
  schedule = piece.z * SCHEDULE_TEXELS;
  uvec4 data = TEXEL(blocks_in, block);
#if LC_CTR
  state = counter_block(iv, piece.y + block - piece.x);
  after = data;
#else
  state = data;
  after = uvec4(0u);
#endif
}

void main() {
  uint number = min(pixel_number(), half_blocks - 1u);
  uvec4 state0, state1, after0, after1;
  uvec2 schedule;
  begin(number, state0, after0, schedule.x);
  begin(min(half_blocks + number, blocks - 1u), state1, after1, schedule.y);
  uint s[8];
  for (int n = 0; n < 4; ++n) {
    s[n] = state0[n];
    s[n + 4] = state1[n];
  }
  cipher(s, schedule);
  result0 = uvec4(s[0], s[1], s[2], s[3]) ^ after0;
  result1 = uvec4(s[4], s[5], s[6], s[7]) ^ after1;
}

#endif
