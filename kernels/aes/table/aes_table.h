// AES by table look-ups in local memory, with a copy of each table in every
// bank: lane n of a warp reads bank n alone, so no look-up waits for another
// whatever the bytes are. Included once for each form:
//   AES_TABLES 4   T0 to T3, 128 KiB: the address of a look-up is one byte
//                  permute, since T0 and T1 lie side by side in rows of 256
//                  bytes (and T2 and T3 after them)
//   AES_TABLES 1   T0 alone, 32 KiB; the others are its rotations
// With AES_KEY_SLOT defined, the kernels are named aes_table4_slot_MODE, and
// take all keys from the device's key slot instead of `schedules`: a load less
// a round. What they compute must stand in code that all lanes of a group run
// together, or every look-up costs an addition.
// The modes are in aes_table_modes.h, aes_table_ctr.h, aes_table_xts.h,
// aes_table_feedback.h and aes_table_ccm.h.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/aes/aes_sbox.h"
#include "kernels/aes/aes_tiles.h"

#if defined(AES_KEY_SLOT)
#define AES_NAME(name) aes_table4_slot_##name
#define AES_LANES AES_TABLE4_LANES
#define AES_XTS_LANES AES_TABLE4_XTS_LANES
#elif AES_TABLES == 4
#define AES_NAME(name) aes_table4_##name
#define AES_LANES AES_TABLE4_LANES
#define AES_XTS_LANES AES_TABLE4_XTS_LANES
#else
#define AES_NAME(name) aes_table1_##name
#define AES_LANES AES_TABLE1_LANES
#define AES_XTS_LANES AES_TABLE1_LANES
#endif

#ifndef LC_KERNELS_AES_TABLE_COMMON
#define LC_KERNELS_AES_TABLE_COMMON

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

// The blocks of a tile that a lane takes; those past `length` are left alone.
FN void aes_load_tile(Block *blocks, GLOBAL const u8 *in, u64 first, u64 length, u32 aligned,
                      u32 whole) {
  if (whole) {
    UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) {
      blocks[n] = load_block(in + 16 * (first + n * TEAM_LANES));
    }
  } else {
    UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) {
      const u64 at = 16 * (first + n * TEAM_LANES);
      if (at < length) blocks[n] = aes_load(in + at, 16, aligned);
    }
  }
}

FN void aes_store_tile(GLOBAL u8 *out, const Block *blocks, u64 first, u64 length, u32 aligned,
                       u32 whole) {
  if (whole) {
    UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) {
      store_block(out + 16 * (first + n * TEAM_LANES), blocks[n]);
    }
  } else {
    UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) {
      const u64 at = 16 * (first + n * TEAM_LANES);
      if (at < length) aes_store(out + at, blocks[n], 16, aligned);
    }
  }
}

#endif

#ifdef AES_KEY_SLOT
#define AES_ROUND_KEY(schedule, step, round) aes_slot_round_key(round)
#else
#define AES_ROUND_KEY(schedule, step, round) aes_round_key(schedule, step, round)
#endif

// A look-up of byte i of x in T0, by the lane whose copy begins at `copy` (a
// byte offset within a row).
#if AES_TABLES == 4
#define AES_COPY ((lane_id() % 32) * 4)
#define AES_LOOK(t, x, i)                                                     \
  (*(SHARED const u32 *)((SHARED const u8 *)tables + ROW_OF((x), (i), copy) + \
                         (((t)&1) * 128 + ((t) >> 1) * 65536)))
#define AES_LOOK_S(x, i) ((u32)((SHARED const u8 *)tables)[ROW_OF((x), (i), copy) + 1])
#define AES_LOOK0(x, i) AES_LOOK(0, x, i)
#define AES_LOOK1(x, i) AES_LOOK(1, x, i)
#define AES_LOOK2(x, i) AES_LOOK(2, x, i)
#define AES_LOOK3(x, i) AES_LOOK(3, x, i)
#else
#define AES_COPY ((lane_id() % 32) * 8)
#define AES_LOOK0(x, i) \
  (*(SHARED const u32 *)((SHARED const u8 *)tables + (ROW_OF((x), (i), copy) >> 1)))
#define AES_LOOK_S(x, i) ((u32)((SHARED const u8 *)tables)[(ROW_OF((x), (i), copy) >> 1) + 1])
#define AES_LOOK1(x, i) ROTATE_LEFT(AES_LOOK0(x, i), 8)
#define AES_LOOK2(x, i) ROTATE_LEFT(AES_LOOK0(x, i), 16)
#define AES_LOOK3(x, i) ROTATE_LEFT(AES_LOOK0(x, i), 24)
#endif

#if AES_TABLES == 4
#define AES_ROW_WORDS 64u
#else
#define AES_ROW_WORDS 32u
#endif

// Fills the tables, all lanes of the group together: first each word of T0 once, in some
// copy, for what a word takes to make is more than what its 32 copies take to write.
FN void AES_NAME(fill)(SHARED u32 *tables, u32 inverse) {
  for (u32 x = lane_id(); x < 256; x += group_lanes()) {
    tables[x * AES_ROW_WORDS + x % 32] = inverse ? aes_inverse_t0(x) : aes_t0(x);
  }
  group_barrier();
  for (u32 i = lane_id(); i < 256 * 32; i += group_lanes()) {
    const u32 x = i / 32, copy = i % 32;
    const u32 t = tables[x * AES_ROW_WORDS + x % 32];
#if AES_TABLES == 4
    tables[x * 64 + 32 + copy] = ROTATE_LEFT(t, 8);
    tables[16384 + x * 64 + copy] = ROTATE_LEFT(t, 16);
    tables[16384 + x * 64 + 32 + copy] = ROTATE_LEFT(t, 24);
#endif
    if (copy != x % 32) tables[x * AES_ROW_WORDS + copy] = t;
  }
  group_barrier();
}
#undef AES_ROW_WORDS

// One column of a round, from the four words whose bytes ShiftRows brings
// together: FIPS 197's 5.1 with SubBytes and MixColumns in the tables.
#define AES_COLUMN(a, b, c, d, key) \
  (AES_LOOK0(a, 0) ^ AES_LOOK1(b, 1) ^ AES_LOOK2(c, 2) ^ AES_LOOK3(d, 3) ^ (key))

// One column of the last round: S(x) is byte 1 of T0.
FN u32 AES_NAME(last_column)(SHARED const u32 *tables, u32 copy, u32 a, u32 b, u32 c, u32 d) {
  return JOIN_BYTES(AES_LOOK_S(a, 0), AES_LOOK_S(b, 1), AES_LOOK_S(c, 2), AES_LOOK_S(d, 3));
}

// The same for decryption, with the key: the inverse S-box of x is the XOR of the
// four bytes of its table word, since 0e ^ 09 ^ 0d ^ 0b = 01. The key goes in
// where a sum has two terms, which leaves a place for what a mode adds.
FN u32 AES_NAME(inverse_last_column)(SHARED const u32 *tables, u32 copy, u32 a, u32 b, u32 c, u32 d,
                                     u32 key) {
  const u32 ta = AES_LOOK0(a, 0), tb = AES_LOOK0(b, 1);
  const u32 tc = AES_LOOK0(c, 2), td = AES_LOOK0(d, 3);
  const u32 ab = PICK(ta, tb, 0x5410) ^ PICK(ta, tb, 0x7632) ^ PICK(key, 0, 0x4140);
  const u32 cd = PICK(tc, td, 0x5410) ^ PICK(tc, td, 0x7632) ^ PICK(key, 0, 0x4342);
  return PICK(ab, cd, 0x6420) ^ PICK(ab, cd, 0x7531);
}

// Rounds `from` to the last of `count` blocks, of which AddRoundKey and the
// rounds before have been done; round keys `step` words apart. The loop stays
// one: its code must be small, above all where bitsliced groups run beside it.
FN void AES_NAME(encrypt_by)(Block *blocks, u32 count, u32 from, SHARED const u32 *tables,
                             GLOBAL const u32 *schedule, u32 step, u32 rounds) {
  const u32 copy = AES_COPY;
  ROLLED for (u32 round = from; round < rounds; ++round) {
    const Block key = AES_ROUND_KEY(schedule, step, round);
    UNROLL for (u32 n = 0; n < count; ++n) {
      const Block s = blocks[n];
      UNROLL for (u32 c = 0; c < 4; ++c) {
        blocks[n].w[c] =
            AES_COLUMN(s.w[c], s.w[(c + 1) & 3], s.w[(c + 2) & 3], s.w[(c + 3) & 3], key.w[c]);
      }
    }
  }
  const Block key = AES_ROUND_KEY(schedule, step, rounds);
  UNROLL for (u32 n = 0; n < count; ++n) {
    const Block s = blocks[n];
    UNROLL for (u32 c = 0; c < 4; ++c) {
      blocks[n].w[c] = key.w[c] ^ AES_NAME(last_column)(tables, copy, s.w[c], s.w[(c + 1) & 3],
                                                        s.w[(c + 2) & 3], s.w[(c + 3) & 3]);
    }
  }
}

FN void AES_NAME(encrypt_from)(Block *blocks, u32 count, u32 from, SHARED const u32 *tables,
                               GLOBAL const u32 *schedule, u32 rounds) {
  AES_NAME(encrypt_by)(blocks, count, from, tables, schedule, 4, rounds);
}

FN void AES_NAME(encrypt)(Block *blocks, u32 count, SHARED const u32 *tables,
                          GLOBAL const u32 *schedule, u32 rounds) {
  const Block key = AES_ROUND_KEY(schedule, 4, 0);
  UNROLL for (u32 n = 0; n < count; ++n) blocks[n] = aes_xor(blocks[n], key);
  AES_NAME(encrypt_from)(blocks, count, 1, tables, schedule, rounds);
}

// Of a lane's own stream, with a schedule as aes_expand_stream_keys makes it.
FN void AES_NAME(encrypt_stream)(Block *blocks, u32 count, SHARED const u32 *tables,
                                 GLOBAL const u32 *schedule, u32 rounds) {
  const Block key = AES_ROUND_KEY(schedule, AES_STREAM_KEY_STEP, 0);
  UNROLL for (u32 n = 0; n < count; ++n) blocks[n] = aes_xor(blocks[n], key);
  AES_NAME(encrypt_by)(blocks, count, 1, tables, schedule, AES_STREAM_KEY_STEP, rounds);
}

FN void AES_NAME(decrypt)(Block *blocks, u32 count, SHARED const u32 *tables,
                          GLOBAL const u32 *schedule, u32 rounds) {
  const u32 copy = AES_COPY;
  Block key = AES_ROUND_KEY(schedule, 4, 0);
  UNROLL for (u32 n = 0; n < count; ++n) blocks[n] = aes_xor(blocks[n], key);
  ROLLED for (u32 round = 1; round < rounds; ++round) {
    key = AES_ROUND_KEY(schedule, 4, round);
    UNROLL for (u32 n = 0; n < count; ++n) {
      const Block s = blocks[n];
      UNROLL for (u32 c = 0; c < 4; ++c) {
        blocks[n].w[c] =
            AES_COLUMN(s.w[c], s.w[(c + 3) & 3], s.w[(c + 2) & 3], s.w[(c + 1) & 3], key.w[c]);
      }
    }
  }
  key = AES_ROUND_KEY(schedule, 4, rounds);
  UNROLL for (u32 n = 0; n < count; ++n) {
    const Block s = blocks[n];
    UNROLL for (u32 c = 0; c < 4; ++c) {
      blocks[n].w[c] = AES_NAME(inverse_last_column)(tables, copy, s.w[c], s.w[(c + 3) & 3],
                                                     s.w[(c + 2) & 3], s.w[(c + 1) & 3], key.w[c]);
    }
  }
}

#include "aes_table_modes.h"

#include "aes_table_ctr.h"

#include "aes_table_xts.h"

#ifndef AES_KEY_SLOT
#include "aes_table_ccm.h"
#include "aes_table_feedback.h"
#endif

#undef AES_NAME
#undef AES_LANES
#undef AES_XTS_LANES
#undef AES_COPY
#undef AES_LOOK
#undef AES_LOOK_S
#undef AES_ROUND_KEY
#undef AES_LOOK0
#undef AES_LOOK1
#undef AES_LOOK2
#undef AES_LOOK3
#undef AES_COLUMN
#undef AES_TILE_PARAMETERS
#undef AES_FOR_EACH_TILE
#undef AES_TILE_PIECE
