// AES by table look-ups; see kernels/block/table/form.h.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/aead/gf128.h"
#include "kernels/aead/short_message.h"
#include "kernels/aes/aes_sbox.h"
#include "kernels/block/tiles.h"

#ifndef LC_KERNELS_AES_TABLE
#define LC_KERNELS_AES_TABLE

// T0 of x: the column that MixColumns makes of S(x) in row 0.
FN u32 aes_t0(u32 x) {
  const u32 s = kAesSbox[x];
  const u32 s2 = (s << 1) ^ (s >> 7) * 0x11bu;
  return s2 | s << 8 | s << 16 | (s2 ^ s) << 24;
}

// The same for InvMixColumns of the inverse S-box: 0e, 09, 0d, 0b.
FN u32 aes_inverse_t0(u32 x) {
  const u32 s = kAesInverseSbox[x];
  const u32 s2 = (s << 1) ^ (s >> 7) * 0x11bu;
  const u32 s4 = (s2 << 1) ^ (s2 >> 7) * 0x11bu;
  const u32 s8 = (s4 << 1) ^ (s4 >> 7) * 0x11bu;
  return (s8 ^ s4 ^ s2) | (s8 ^ s) << 8 | (s8 ^ s4 ^ s) << 16 | (s8 ^ s2 ^ s) << 24;
}

#endif

#define BLOCK_CIPHER aes
#define BLOCK_SCHEDULE_WORDS AES_SCHEDULE_WORDS
#define BLOCK_MODES AES_MODES
#define BLOCK_TABLE_WORD(x, inverse) ((inverse) ? aes_inverse_t0(x) : aes_t0(x))
#include "kernels/block/table/form.h"

// One column of a round, from the four words whose bytes ShiftRows brings
// together: FIPS 197's 5.1 with SubBytes and MixColumns in the tables.
#define AES_COLUMN(a, b, c, d, key) \
  (BLOCK_LOOK0(a, 0) ^ BLOCK_LOOK1(b, 1) ^ BLOCK_LOOK2(c, 2) ^ BLOCK_LOOK3(d, 3) ^ (key))

// One column of the last round: S(x) is byte 1 of T0.
FN u32 BLOCK_NAME(last_column)(SHARED const u32 *tables, u32 copy, u32 a, u32 b, u32 c, u32 d) {
  return JOIN_BYTES(BLOCK_LOOK_S(a, 0), BLOCK_LOOK_S(b, 1), BLOCK_LOOK_S(c, 2), BLOCK_LOOK_S(d, 3));
}

// The same for decryption, with the key: the inverse S-box of x is the XOR of the
// four bytes of its table word, since 0e ^ 09 ^ 0d ^ 0b = 01. The key goes in
// where a sum has two terms, which leaves a place for what a mode adds.
FN u32 BLOCK_NAME(inverse_last_column)(SHARED const u32 *tables, u32 copy, u32 a, u32 b, u32 c,
                                       u32 d, u32 key) {
  const u32 ta = BLOCK_LOOK0(a, 0), tb = BLOCK_LOOK0(b, 1);
  const u32 tc = BLOCK_LOOK0(c, 2), td = BLOCK_LOOK0(d, 3);
  const u32 ab = PICK(ta, tb, 0x5410) ^ PICK(ta, tb, 0x7632) ^ PICK(key, 0, 0x4140);
  const u32 cd = PICK(tc, td, 0x5410) ^ PICK(tc, td, 0x7632) ^ PICK(key, 0, 0x4342);
  return PICK(ab, cd, 0x6420) ^ PICK(ab, cd, 0x7531);
}

// Rounds `from` to the last of `count` blocks, of which AddRoundKey and the
// rounds before have been done; round keys `step` words apart. The loop stays
// one: its code must be small, above all where bitsliced groups run beside it.
FN void BLOCK_NAME(encrypt_by)(Block *blocks, u32 count, u32 from, SHARED const u32 *tables,
                               GLOBAL const u32 *schedule, u32 step, u32 rounds) {
  const u32 copy = BLOCK_COPY;
  ROLLED for (u32 round = from; round < rounds; ++round) {
    const Block key = BLOCK_ROUND_KEY(schedule, step, round);
    UNROLL for (u32 n = 0; n < count; ++n) {
      const Block s = blocks[n];
      UNROLL for (u32 c = 0; c < 4; ++c) {
        blocks[n].w[c] =
            AES_COLUMN(s.w[c], s.w[(c + 1) & 3], s.w[(c + 2) & 3], s.w[(c + 3) & 3], key.w[c]);
      }
    }
  }
  const Block key = BLOCK_ROUND_KEY(schedule, step, rounds);
  UNROLL for (u32 n = 0; n < count; ++n) {
    const Block s = blocks[n];
    UNROLL for (u32 c = 0; c < 4; ++c) {
      blocks[n].w[c] = key.w[c] ^ BLOCK_NAME(last_column)(tables, copy, s.w[c], s.w[(c + 1) & 3],
                                                          s.w[(c + 2) & 3], s.w[(c + 3) & 3]);
    }
  }
}

FN void BLOCK_NAME(encrypt_from)(Block *blocks, u32 count, u32 from, SHARED const u32 *tables,
                                 GLOBAL const u32 *schedule, u32 rounds) {
  BLOCK_NAME(encrypt_by)(blocks, count, from, tables, schedule, 4, rounds);
}

FN void BLOCK_NAME(encrypt)(Block *blocks, u32 count, SHARED const u32 *tables,
                            GLOBAL const u32 *schedule, u32 rounds) {
  const Block key = BLOCK_ROUND_KEY(schedule, 4, 0);
  UNROLL for (u32 n = 0; n < count; ++n) blocks[n] = block_xor(blocks[n], key);
  BLOCK_NAME(encrypt_from)(blocks, count, 1, tables, schedule, rounds);
}

// Of a lane's own stream, with a schedule as stream_keys of keys.h makes it.
FN void BLOCK_NAME(encrypt_stream)(Block *blocks, u32 count, SHARED const u32 *tables,
                                   GLOBAL const u32 *schedule, u32 rounds) {
  const Block key = BLOCK_ROUND_KEY(schedule, BLOCK_STREAM_KEY_STEP, 0);
  UNROLL for (u32 n = 0; n < count; ++n) blocks[n] = block_xor(blocks[n], key);
  BLOCK_NAME(encrypt_by)(blocks, count, 1, tables, schedule, BLOCK_STREAM_KEY_STEP, rounds);
}

FN void BLOCK_NAME(decrypt)(Block *blocks, u32 count, SHARED const u32 *tables,
                            GLOBAL const u32 *schedule, u32 rounds) {
  const u32 copy = BLOCK_COPY;
  Block key = BLOCK_ROUND_KEY(schedule, 4, 0);
  UNROLL for (u32 n = 0; n < count; ++n) blocks[n] = block_xor(blocks[n], key);
  ROLLED for (u32 round = 1; round < rounds; ++round) {
    key = BLOCK_ROUND_KEY(schedule, 4, round);
    UNROLL for (u32 n = 0; n < count; ++n) {
      const Block s = blocks[n];
      UNROLL for (u32 c = 0; c < 4; ++c) {
        blocks[n].w[c] =
            AES_COLUMN(s.w[c], s.w[(c + 3) & 3], s.w[(c + 2) & 3], s.w[(c + 1) & 3], key.w[c]);
      }
    }
  }
  key = BLOCK_ROUND_KEY(schedule, 4, rounds);
  UNROLL for (u32 n = 0; n < count; ++n) {
    const Block s = blocks[n];
    UNROLL for (u32 c = 0; c < 4; ++c) {
      blocks[n].w[c] = BLOCK_NAME(inverse_last_column)(
          tables, copy, s.w[c], s.w[(c + 3) & 3], s.w[(c + 2) & 3], s.w[(c + 1) & 3], key.w[c]);
    }
  }
}

#define BLOCK_WINDOW AesWindow
#include "kernels/aes/aes_table_window.h"

#if BLOCK_TABLES == 1
#include "kernels/aes/aes_gcm_short.h"
#endif

#include "kernels/block/table/kernels.h"

#undef AES_COLUMN
