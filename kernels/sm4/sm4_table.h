// SM4 by table look-ups; see kernels/block/table/form.h. A round (GB/T 32907-2016, 6)
// takes four: S-box and L of a byte are one word, and those of the bytes beside it are its
// rotations. `rounds` counts by fours, whose keys lie side by side.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/tiles.h"
#include "kernels/sm4/sm4_sbox.h"

#ifndef LC_KERNELS_SM4_TABLE
#define LC_KERNELS_SM4_TABLE

// L of S(x) in the most significant byte, which comes first in memory.
FN u32 sm4_t0(u32 x) {
  const u32 s = (u32)kSm4Sbox[x] << 24;
  return SWAP_BYTES(s ^ ROTATE_LEFT(s, 2) ^ ROTATE_LEFT(s, 10) ^ ROTATE_LEFT(s, 18) ^
                    ROTATE_LEFT(s, 24));
}

#endif

#define BLOCK_CIPHER sm4
#define BLOCK_SCHEDULE_WORDS SM4_SCHEDULE_WORDS
#define BLOCK_MODES SM4_MODES
#define BLOCK_TABLE_WORD(x, inverse) sm4_t0(x)
#include "kernels/block/table/form.h"

// Round keys `step` words apart from four to four.
FN void BLOCK_NAME(encrypt_by)(Block *blocks, u32 count, SHARED const u32 *tables,
                               GLOBAL const u32 *schedule, u32 step, u32 rounds) {
  const u32 copy = BLOCK_COPY;
  ROLLED for (u32 round = 0; round < rounds; ++round) {
    const Block key = BLOCK_ROUND_KEY(schedule, step, round);
    UNROLL for (u32 i = 0; i < 4; ++i) {
      UNROLL for (u32 n = 0; n < count; ++n) {
        const u32 t = blocks[n].w[(i + 1) & 3] ^ blocks[n].w[(i + 2) & 3] ^
                      blocks[n].w[(i + 3) & 3] ^ key.w[i];
        blocks[n].w[i] ^=
            BLOCK_LOOK0(t, 0) ^ BLOCK_LOOK1(t, 1) ^ BLOCK_LOOK2(t, 2) ^ BLOCK_LOOK3(t, 3);
      }
    }
  }
  UNROLL for (u32 n = 0; n < count; ++n) {
    const Block s = blocks[n];
    UNROLL for (u32 c = 0; c < 4; ++c) blocks[n].w[c] = s.w[3 - c];
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
