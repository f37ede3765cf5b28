// The table forms of a cipher: look-ups in local memory, with a copy of each table in
// every bank: lane n of a warp reads bank n alone, so no look-up waits for another
// whatever the bytes are. Included once for each form:
//   BLOCK_TABLES 4   T0 to T3, 128 KiB: the address of a look-up is one byte
//                  permute, since T0 and T1 lie side by side in rows of 256
//                  bytes (and T2 and T3 after them)
//   BLOCK_TABLES 1   T0 alone, 32 KiB; the others are its rotations
// With BLOCK_KEY_SLOT defined, the kernels are named CIPHER_table4_slot_MODE, and
// take all keys from the device's key slot instead of `schedules`: a load less
// a round. What they compute must stand in code that all lanes of a group run
// together, or every look-up costs an addition.
// Where there is such a slot, teams have 32 lanes that can give each other words, and both kinds
// have kernels for texts at any address (BLOCK_ACROSS): those of the slot for one key, the others
// for several, and for a launch that cannot have the slot.
//
// A file that defines BLOCK_CIPHER, BLOCK_SCHEDULE_WORDS, BLOCK_MODES, and
// BLOCK_TABLE_WORD(x, inverse), the word of T0 for the byte x, includes this, and then defines what
// follows. Where T1 to T3 are no rotations of T0, it also defines BLOCK_TABLE_PART(table, word),
// which is the word of each for what BLOCK_TABLE_WORD() gives, and looks up by BLOCK_LOOK(table, x,
// byte).
//   BLOCK_NAME(encrypt) BLOCK_NAME(decrypt)   `count` blocks by BLOCK_LOOK0 to 3, with the
//                                    keys BLOCK_ROUND_KEY(schedule, 4, ...)
//   BLOCK_NAME(encrypt_stream)       the same of a lane's own stream, whose keys are
//                                    BLOCK_STREAM_KEY_STEP words apart
//   BLOCK_WINDOW BLOCK_NAME(begin_window) BLOCK_NAME(window_row)
//                                    what CTR's counters of a window share; plain_window.h
//                                    has them for a cipher whose share nothing
// and includes kernels.h for the modes.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/tiles.h"

#if defined(HAS_KEY_SLOT) && BLOCK_TABLES == 4
#define BLOCK_ACROSS
#ifdef BLOCK_KEY_SLOT
#define BLOCK_ACROSS_REGISTERS BLOCK_TABLE_REGISTERS
#define BLOCK_ACROSS_XTS_KERNEL(name) KERNEL(name, BLOCK_XTS_LANES)
#else
#define BLOCK_ACROSS_REGISTERS BLOCK_LOADED_REGISTERS
#define BLOCK_ACROSS_XTS_KERNEL(name) KERNEL_OF(name, BLOCK_LANES, BLOCK_ACROSS_REGISTERS)
#endif
#endif

#if defined(BLOCK_KEY_SLOT)
#define BLOCK_FORM table4_slot
#define BLOCK_LANES BLOCK_TABLE4_LANES
#define BLOCK_XTS_LANES BLOCK_TABLE4_XTS_LANES
#elif BLOCK_TABLES == 4
#define BLOCK_FORM table4
#define BLOCK_LANES BLOCK_TABLE4_LANES
#define BLOCK_XTS_LANES BLOCK_TABLE4_XTS_LANES
#else
#define BLOCK_FORM table1
#define BLOCK_LANES BLOCK_TABLE1_LANES
#define BLOCK_XTS_LANES BLOCK_TABLE1_LANES
#endif

#ifndef LC_KERNELS_BLOCK_TABLE_COMMON
#define LC_KERNELS_BLOCK_TABLE_COMMON

// The blocks of a tile that a lane takes; those past `length` are left alone.
FN void block_load_tile(Block *blocks, GLOBAL const u8 *in, u64 first, u64 length, u32 aligned,
                        u32 whole) {
  if (whole) {
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
      blocks[n] = load_block(in + 16 * (first + n * TEAM_LANES));
    }
  } else {
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
      const u64 at = 16 * (first + n * TEAM_LANES);
      if (at < length) blocks[n] = load_part(in + at, 16, aligned);
    }
  }
}

FN void block_store_tile(GLOBAL u8 *out, const Block *blocks, u64 first, u64 length, u32 aligned,
                         u32 whole) {
  if (whole) {
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
      store_block(out + 16 * (first + n * TEAM_LANES), blocks[n]);
    }
  } else {
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
      const u64 at = 16 * (first + n * TEAM_LANES);
      if (at < length) store_part(out + at, blocks[n], 16, aligned);
    }
  }
}

#endif

// Where lanes hand each other words, if they do so by local memory: see HAS_WORD_OF_LANE.
#define BLOCK_SCRATCH (tables + BLOCK_TABLE4_LOCAL_WORDS)

#ifdef BLOCK_KEY_SLOT
#define BLOCK_ROUND_KEY(schedule, step, round) block_slot_round_key(round)
#else
#define BLOCK_ROUND_KEY(schedule, step, round) block_round_key(schedule, step, round)
#endif

// A look-up of byte i of x in T0, by the lane whose copy begins at `copy` (a
// byte offset within a row).
#if BLOCK_TABLES == 4
#define BLOCK_COPY ((lane_id() % 32) * 4)
#define BLOCK_LOOK(t, x, i)                                                   \
  (*(SHARED const u32 *)((SHARED const u8 *)tables + ROW_OF((x), (i), copy) + \
                         (((t)&1) * 128 + ((t) >> 1) * 65536)))
#define BLOCK_LOOK_S(x, i) ((u32)((SHARED const u8 *)tables)[ROW_OF((x), (i), copy) + 1])
#define BLOCK_LOOK0(x, i) BLOCK_LOOK(0, x, i)
#define BLOCK_LOOK1(x, i) BLOCK_LOOK(1, x, i)
#define BLOCK_LOOK2(x, i) BLOCK_LOOK(2, x, i)
#define BLOCK_LOOK3(x, i) BLOCK_LOOK(3, x, i)
#else
#define BLOCK_COPY ((lane_id() % 32) * 8)
#define BLOCK_LOOK0(x, i) \
  (*(SHARED const u32 *)((SHARED const u8 *)tables + (ROW_OF((x), (i), copy) >> 1)))
#define BLOCK_LOOK_S(x, i) ((u32)((SHARED const u8 *)tables)[(ROW_OF((x), (i), copy) >> 1) + 1])
#ifdef BLOCK_TABLE_PART
#define BLOCK_LOOK(t, x, i) BLOCK_TABLE_PART(t, BLOCK_LOOK0(x, i))
#endif
#define BLOCK_LOOK1(x, i) ROTATE_LEFT(BLOCK_LOOK0(x, i), 8)
#define BLOCK_LOOK2(x, i) ROTATE_LEFT(BLOCK_LOOK0(x, i), 16)
#define BLOCK_LOOK3(x, i) ROTATE_LEFT(BLOCK_LOOK0(x, i), 24)
#endif

#if BLOCK_TABLES == 4
#define BLOCK_ROW_WORDS 64u
#else
#define BLOCK_ROW_WORDS 32u
#endif

// Fills the tables, all lanes of the group together: first each word of T0 once, in some
// copy, for what a word takes to make is more than what its 32 copies take to write.
FN void BLOCK_NAME(fill)(SHARED u32 *tables, u32 inverse) {
#if BLOCK_TABLES == 4 && defined(BLOCK_TABLE_PART)
  for (u32 i = lane_id(); i < 256 * 32; i += group_lanes()) {
    const u32 x = i / 32, copy = i % 32, word = BLOCK_TABLE_WORD(x, inverse);
    tables[x * 64 + copy] = BLOCK_TABLE_PART(0, word);
    tables[x * 64 + 32 + copy] = BLOCK_TABLE_PART(1, word);
    tables[16384 + x * 64 + copy] = BLOCK_TABLE_PART(2, word);
    tables[16384 + x * 64 + 32 + copy] = BLOCK_TABLE_PART(3, word);
  }
#else
  for (u32 x = lane_id(); x < 256; x += group_lanes()) {
    tables[x * BLOCK_ROW_WORDS + x % 32] = BLOCK_TABLE_WORD(x, inverse);
  }
  group_barrier();
  for (u32 i = lane_id(); i < 256 * 32; i += group_lanes()) {
    const u32 x = i / 32, copy = i % 32;
    const u32 t = tables[x * BLOCK_ROW_WORDS + x % 32];
#if BLOCK_TABLES == 4
    tables[x * 64 + 32 + copy] = ROTATE_LEFT(t, 8);
    tables[16384 + x * 64 + copy] = ROTATE_LEFT(t, 16);
    tables[16384 + x * 64 + 32 + copy] = ROTATE_LEFT(t, 24);
#endif
    if (copy != x % 32) tables[x * BLOCK_ROW_WORDS + copy] = t;
  }
#endif
  group_barrier();
}
#undef BLOCK_ROW_WORDS
