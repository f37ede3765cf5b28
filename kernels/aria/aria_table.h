// ARIA by table look-ups; see kernels/block/table/form.h. Each table has an S-box at three of
// the four bytes of a word, which is the diffusion within words.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/aes/aes_sbox.h"
#include "kernels/aria/aria_layers.h"
#include "kernels/block/tiles.h"

#ifndef LC_KERNELS_ARIA_TABLE
#define LC_KERNELS_ARIA_TABLE

// The four S-boxes of x, SB1 lowest.
FN u32 aria_sboxes(u32 x) {
  return (u32)kAesSbox[x] | (u32)kAriaSbox2[x] << 8 | (u32)kAesInverseSbox[x] << 16 |
         (u32)kAriaSbox4[x] << 24;
}

#endif

#define BLOCK_CIPHER aria
#define BLOCK_SCHEDULE_WORDS ARIA_SCHEDULE_WORDS
#define BLOCK_MODES ARIA_MODES
#define BLOCK_TABLE_WORD(x, inverse) aria_sboxes(x)
#define BLOCK_TABLE_PART(table, word) \
  PICK((word), 0, (table) == 0 ? 0x0004 : (table) == 1 ? 0x1141 : (table) == 2 ? 0x2422 : 0x4333)
#include "kernels/block/table/form.h"

FN u32 BLOCK_NAME(odd_word)(u32 t, SHARED const u32 *tables, u32 copy) {
  return BLOCK_LOOK(0, t, 0) ^ BLOCK_LOOK(1, t, 1) ^ BLOCK_LOOK(2, t, 2) ^ BLOCK_LOOK(3, t, 3);
}

FN u32 BLOCK_NAME(even_word)(u32 t, SHARED const u32 *tables, u32 copy) {
  return BLOCK_LOOK(2, t, 0) ^ BLOCK_LOOK(3, t, 1) ^ BLOCK_LOOK(0, t, 2) ^ BLOCK_LOOK(1, t, 3);
}

// The last round substitutes alone.
FN u32 BLOCK_NAME(last_word)(u32 t, SHARED const u32 *tables, u32 copy) {
  return (BLOCK_LOOK(2, t, 0) & 0xffu) | (BLOCK_LOOK(3, t, 1) & 0xff00u) |
         (BLOCK_LOOK(0, t, 2) & 0xff0000u) | (BLOCK_LOOK(1, t, 3) & 0xff000000u);
}

FN void BLOCK_NAME(encrypt_by)(Block *blocks, u32 count, SHARED const u32 *tables,
                               GLOBAL const u32 *schedule, u32 step, u32 rounds) {
  const u32 copy = BLOCK_COPY;
  Block key = BLOCK_ROUND_KEY(schedule, step, 0);
  UNROLL for (u32 n = 0; n < count; ++n) blocks[n] = block_xor(blocks[n], key);
  ROLLED for (u32 round = 1;; round += 2) {
    key = BLOCK_ROUND_KEY(schedule, step, round);
    UNROLL for (u32 n = 0; n < count; ++n) {
      UNROLL for (u32 c = 0; c < 4; ++c) {
        blocks[n].w[c] = BLOCK_NAME(odd_word)(blocks[n].w[c], tables, copy);
      }
      aria_diffuse(blocks[n].w, 0);
      blocks[n] = block_xor(blocks[n], key);
    }
    key = BLOCK_ROUND_KEY(schedule, step, round + 1);
    if (round + 1 == rounds) break;
    UNROLL for (u32 n = 0; n < count; ++n) {
      UNROLL for (u32 c = 0; c < 4; ++c) {
        blocks[n].w[c] = BLOCK_NAME(even_word)(blocks[n].w[c], tables, copy);
      }
      aria_diffuse(blocks[n].w, 1);
      blocks[n] = block_xor(blocks[n], key);
    }
  }
  UNROLL for (u32 n = 0; n < count; ++n) {
    UNROLL for (u32 c = 0; c < 4; ++c) {
      blocks[n].w[c] = key.w[c] ^ BLOCK_NAME(last_word)(blocks[n].w[c], tables, copy);
    }
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
