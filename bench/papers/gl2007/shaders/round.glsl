// AES encryption without integers, on numbers from 0 to 1 for bytes, as GPUs of 2007
// computed: tables are textures, and a draw is a round or a part of one. A texel is a
// column of the state. rounds.cpp defines these macros in front:
//   LC_STEP    what is drawn: see below
//   LC_XOR     8: a table of 256 x 256; 4: a table of 16 x 16, for nibbles; 0: the
//              raster units XOR what is drawn to the contents of the target
//   LC_GATHER  0: a texture for each column; 1: a block is four texels in a row;
//              2: a block is two by two texels
//   LC_ROTATES 1: one table, whose entries are rotated; 0: four tables
// A byte n is passed as n / 255, perhaps with a rounding error. A lookup is exact anyway:
// it aims at the middle of a texel, half a texel away from its border.
//
// SPDX-License-Identifier: Apache-2.0

#define STEP_FIRST 0    // AddRoundKey
#define STEP_MIDDLE 1  // a full round
#define STEP_LAST 2  // the last round, without MixColumns
#define STEP_SPREAD 3   // from four texels in a row to the layout of LC_GATHER
#define STEP_COLLECT 4  // the reverse
// The operands of XOR if LC_XOR is 0:
#define STEP_KEY 5
#define STEP_STATE 6
#define STEP_TERM 7  // of MixColumns, for row 0; + 1 to + 3: for rows 1 to 3
#define STEP_SUBSTITUTE 11
#define STEP_PAIR 12  // state0 and state1 without AES, to measure XOR alone

uniform sampler2D state0;
uniform sampler2D state1;
uniform sampler2D state2;
uniform sampler2D state3;
uniform sampler2D round_keys;  // texel 4 * round + column
uniform sampler2D xor_table;
uniform sampler2D table0;
uniform sampler2D table1;
uniform sampler2D table2;
uniform sampler2D table3;
uniform vec2 texel;  // the size of one texel of the textures that are read
uniform float first_key;

layout(location = 0) out vec4 result0;
#if LC_GATHER == 0 && LC_STEP != STEP_COLLECT
layout(location = 1) out vec4 result1;
layout(location = 2) out vec4 result2;
layout(location = 3) out vec4 result3;
#endif

#if LC_XOR == 8

float xor_bytes(float a, float b) {
  return texture(xor_table, (vec2(a, b) * 255.0 + 0.5) / 256.0).r;
}

#else

// The texture repeats, so .r is looked up by the low nibbles and .g by the high ones.
float xor_bytes(float a, float b) {
  vec2 at = vec2(a, b) * 255.0 + 0.5;
  return texture(xor_table, at / 16.0).r + texture(xor_table, at / 256.0).g;
}

#endif

vec4 xor_words(vec4 a, vec4 b) {
  return vec4(xor_bytes(a.r, b.r), xor_bytes(a.g, b.g), xor_bytes(a.b, b.b), xor_bytes(a.a, b.a));
}

vec4 look(sampler2D table, float byte) {
  return texture(table, vec2((byte * 255.0 + 0.5) / 256.0, 0.5));
}

// The contribution of byte i of a column to SubBytes and MixColumns.
#if LC_ROTATES
#define TERM0(x) look(table0, x)
#define TERM1(x) look(table0, x).argb
#define TERM2(x) look(table0, x).barg
#define TERM3(x) look(table0, x).gbar
#else
#define TERM0(x) look(table0, x)
#define TERM1(x) look(table1, x)
#define TERM2(x) look(table2, x)
#define TERM3(x) look(table3, x)
#endif

// An entry of the first table is 2 S(x), S(x), S(x), 3 S(x), so .g is S(x).
float substitute(float x) { return look(table0, x).g; }

vec4 round_key(float column) {
  return texture(round_keys, vec2((first_key + column + 0.5) / 64.0, 0.5));
}

// Computes a column of the result from the column itself and the three to its right, of which
// ShiftRows takes one byte each.
vec4 column_of(vec4 a, vec4 b, vec4 c, vec4 d, float column) {
#if LC_STEP == STEP_FIRST
  return xor_words(a, round_key(column));
#elif LC_STEP == STEP_MIDDLE
  vec4 ab = xor_words(TERM0(a.r), TERM1(b.g)), cd = xor_words(TERM2(c.b), TERM3(d.a));
  return xor_words(xor_words(ab, cd), round_key(column));
#elif LC_STEP == STEP_LAST
  vec4 s = vec4(substitute(a.r), substitute(b.g), substitute(c.b), substitute(d.a));
  return xor_words(s, round_key(column));
#elif LC_STEP == STEP_KEY
  return round_key(column);
#elif LC_STEP == STEP_TERM
  return TERM0(a.r);
#elif LC_STEP == STEP_TERM + 1
  return TERM1(b.g);
#elif LC_STEP == STEP_TERM + 2
  return TERM2(c.b);
#elif LC_STEP == STEP_TERM + 3
  return TERM3(d.a);
#elif LC_STEP == STEP_SUBSTITUTE
  return vec4(substitute(a.r), substitute(b.g), substitute(c.b), substitute(d.a));
#else
  return a;
#endif
}

vec4 read(sampler2D state, vec2 at) { return texture(state, (at + 0.5) * texel); }

#if LC_STEP == STEP_SPREAD

// With four texels in a row, block (x, y) begins at texel (4 x, y).
void main() {
  vec2 at = floor(gl_FragCoord.xy);
#if LC_GATHER == 0
  vec2 from = vec2(at.x * 4.0, at.y);
  result0 = read(state0, from);
  result1 = read(state0, from + vec2(1.0, 0.0));
  result2 = read(state0, from + vec2(2.0, 0.0));
  result3 = read(state0, from + vec2(3.0, 0.0));
#else
  vec2 block = floor(at / 2.0), in_block = at - 2.0 * block;
  result0 = read(state0, vec2(4.0 * block.x + in_block.x + 2.0 * in_block.y, block.y));
#endif
}

#elif LC_STEP == STEP_COLLECT

void main() {
  vec2 at = floor(gl_FragCoord.xy);
  float block = floor(at.x / 4.0), column = at.x - 4.0 * block;
#if LC_GATHER == 0
  vec2 from = vec2(block, at.y);
  result0 = column < 0.5   ? read(state0, from)
            : column < 1.5 ? read(state1, from)
            : column < 2.5 ? read(state2, from)
                           : read(state3, from);
#else
  float row = floor(column / 2.0);
  result0 = read(state0, vec2(2.0 * block + column - 2.0 * row, 2.0 * at.y + row));
#endif
}

#elif LC_STEP == STEP_PAIR

void main() {
  vec2 at = floor(gl_FragCoord.xy);
#if LC_XOR == 0
  result0 = read(state1, at);
#else
  result0 = xor_words(read(state0, at), read(state1, at));
#endif
}

#elif LC_GATHER == 0

void main() {
  vec2 at = floor(gl_FragCoord.xy);
  vec4 a = read(state0, at), b = read(state1, at), c = read(state2, at), d = read(state3, at);
  result0 = column_of(a, b, c, d, 0.0);
  result1 = column_of(b, c, d, a, 1.0);
  result2 = column_of(c, d, a, b, 2.0);
  result3 = column_of(d, a, b, c, 3.0);
}

#else

#if LC_GATHER == 1
#define COLUMN_AT(at) mod(at.x, 4.0)
vec2 place(float column) { return vec2(column, 0.0); }
#else
#define COLUMN_AT(at) (mod(at.x, 2.0) + 2.0 * mod(at.y, 2.0))
vec2 place(float column) {
  float row = floor(column / 2.0);
  return vec2(column - 2.0 * row, row);
}
#endif

void main() {
  vec2 at = floor(gl_FragCoord.xy);
  float column = COLUMN_AT(at);
  vec2 block = at - place(column);
  vec4 a = read(state0, at);
  vec4 b = read(state0, block + place(mod(column + 1.0, 4.0)));
  vec4 c = read(state0, block + place(mod(column + 2.0, 4.0)));
  vec4 d = read(state0, block + place(mod(column + 3.0, 4.0)));
  result0 = column_of(a, b, c, d, column);
}

#endif
