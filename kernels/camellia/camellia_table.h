// Camellia by table look-ups; see kernels/block/table/form.h. F takes eight: each table has
// an S-box at three of the four bytes of a word (RFC 3713, 2.4.1), so that what comes of the
// four bytes of either word is a sum. `rounds` counts by sixes.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/tiles.h"
#include "kernels/camellia/camellia_sbox.h"

#ifndef LC_KERNELS_CAMELLIA_TABLE
#define LC_KERNELS_CAMELLIA_TABLE

// The four S-boxes of x, s1 lowest.
FN u32 camellia_sboxes(u32 x) {
  const u32 s1 = kCamelliaSbox[x], s4 = kCamelliaSbox[(x << 1 | x >> 7) & 0xff];
  return s1 | ((s1 << 1 | s1 >> 7) & 0xff) << 8 | ((s1 << 7 | s1 >> 1) & 0xff) << 16 | s4 << 24;
}

// FL (RFC 3713, 2.4.2) of the words x[0] and x[1], and its inverse of y. A word's turn by a bit
// goes over bytes in the other order.
FN u32 camellia_turn_bit(u32 word) {
  return ((word << 1) & 0xfefefefeu) | (ROTATE_LEFT(word, 17) & 0x01010101u);
}
FN void camellia_fl(u32 *x, u32 k0, u32 k1) {
  x[1] ^= camellia_turn_bit(x[0] & k0);
  x[0] ^= x[1] | k1;
}
FN void camellia_inverse_fl(u32 *y, u32 k0, u32 k1) {
  y[0] ^= y[1] | k1;
  y[1] ^= camellia_turn_bit(y[0] & k0);
}

#endif

#define BLOCK_CIPHER camellia
#define BLOCK_SCHEDULE_WORDS CAMELLIA_SCHEDULE_WORDS
#define BLOCK_MODES CAMELLIA_MODES
#define BLOCK_TABLE_WORD(x, inverse) camellia_sboxes(x)
#define BLOCK_TABLE_PART(table, word) \
  PICK((word), 0, (table) == 0 ? 0x4000 : (table) == 1 ? 0x1114 : (table) == 2 ? 0x2242 : 0x3433)
#include "kernels/block/table/form.h"

// F of words x under a key, added to y.
FN void BLOCK_NAME(add_f)(u32 *y, const u32 *x, u32 k0, u32 k1, SHARED const u32 *tables,
                          u32 copy) {
  const u32 t0 = x[0] ^ k0, t1 = x[1] ^ k1;
  const u32 u =
      BLOCK_LOOK(0, t0, 0) ^ BLOCK_LOOK(1, t0, 1) ^ BLOCK_LOOK(2, t0, 2) ^ BLOCK_LOOK(3, t0, 3);
  const u32 v =
      u ^ BLOCK_LOOK(1, t1, 0) ^ BLOCK_LOOK(2, t1, 1) ^ BLOCK_LOOK(3, t1, 2) ^ BLOCK_LOOK(0, t1, 3);
  y[0] ^= v;
  y[1] ^= v ^ ROTATE_LEFT(u, 8);
}

FN void BLOCK_NAME(encrypt_by)(Block *blocks, u32 count, SHARED const u32 *tables,
                               GLOBAL const u32 *schedule, u32 step, u32 rounds) {
  const u32 copy = BLOCK_COPY;
  Block key = BLOCK_ROUND_KEY(schedule, step, 0);
  UNROLL for (u32 n = 0; n < count; ++n) blocks[n] = block_xor(blocks[n], key);
  ROLLED for (u32 six = 0; six < rounds; ++six) {
    ROLLED for (u32 two = 1; two < 4; ++two) {
      key = BLOCK_ROUND_KEY(schedule, step, 4 * six + two);
      UNROLL for (u32 n = 0; n < count; ++n) {
        BLOCK_NAME(add_f)(blocks[n].w + 2, blocks[n].w, key.w[0], key.w[1], tables, copy);
      }
      UNROLL for (u32 n = 0; n < count; ++n) {
        BLOCK_NAME(add_f)(blocks[n].w, blocks[n].w + 2, key.w[2], key.w[3], tables, copy);
      }
    }
    key = BLOCK_ROUND_KEY(schedule, step, 4 * six + 4);
    if (six + 1 < rounds) {
      UNROLL for (u32 n = 0; n < count; ++n) {
        camellia_fl(blocks[n].w, key.w[0], key.w[1]);
        camellia_inverse_fl(blocks[n].w + 2, key.w[2], key.w[3]);
      }
    }
  }
  UNROLL for (u32 n = 0; n < count; ++n) {
    const Block s = blocks[n];
    UNROLL for (u32 c = 0; c < 4; ++c) blocks[n].w[c] = s.w[c ^ 2] ^ key.w[c];
  }
}

FN void BLOCK_NAME(encrypt)(Block *blocks, u32 count, SHARED const u32 *tables,
                            GLOBAL const u32 *schedule, u32 rounds) {
  BLOCK_NAME(encrypt_by)(blocks, count, tables, schedule, 4, rounds);
}

FN void BLOCK_NAME(encrypt_stream)(Block *blocks, u32 count, SHARED const u32 *tables,
                                   GLOBAL const u32 *schedule, u32 rounds) {
  BLOCK_NAME(encrypt_by)(blocks, count, tables, schedule, BLOCK_STREAM_KEY_STEP, rounds);
}

FN void BLOCK_NAME(decrypt)(Block *blocks, u32 count, SHARED const u32 *tables,
                            GLOBAL const u32 *schedule, u32 rounds) {
  BLOCK_NAME(encrypt_by)(blocks, count, tables, schedule, 4, rounds);
}

#include "kernels/block/table/plain_window.h"

#include "kernels/block/table/kernels.h"
