// The tweaks of XTS (IEEE 1619, 5.2) and how the blocks of data units are distributed among
// threads; common to all ciphers and forms. Tweaks are elements of GF(2^128) with x^128 = x^7 + x^2
// + x + 1; bit n of the little-endian number is the coefficient of x^n. GB/T 17964 has the bits of
// each byte in the opposite order: such tweaks are bit-reversed after their encryption, multiplied
// like the others, and bit-reversed again where they are XORed.
//
// A slot is a whole block of a data unit. If the unit ends in a partial block, its bytes belong to
// the unit's last slot. Slot j of a unit has the tweak T * x^j. A point is the tweak of every
// XTS_STRETCH-th slot. A separate kernel computes the points. A thread continues from a point in
// steps of 32 slots; a multiplication by x^32 is a shift by one word.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/block/streams.h"

// x^(XTS_STRETCH * 2^i). A data unit has at most 2^20 slots.
TABLE u32 kXtsStretchPowers[8][4] = {
    {0x00000001u, 0x00000001u, 0x00000001u, 0x00000087u},
    {0x00000086u, 0x00000000u, 0x0021caeau, 0x00000000u},
    {0x93f7cfc8u, 0x00021caeu, 0x00000000u, 0x00000000u},
    {0x50555040u, 0x41055515u, 0x01504454u, 0x00000004u},
    {0x6978ef70u, 0x118fe619u, 0x11110961u, 0x10010011u},
    {0x75187987u, 0x93c692c7u, 0x541486c6u, 0x860140d2u},
    {0xdf04ea1eu, 0xea618e11u, 0x312d6501u, 0x8b69509bu},
    {0x30b311b4u, 0xcad0352du, 0xb7756558u, 0xb715594eu},
};

// Reduces: adds the value of `over`, the coefficients of x^128 to x^159, to t.
FN Block xts_fold(Block t, u32 over) {
  t.w[0] ^= over ^ (over << 1) ^ (over << 2) ^ (over << 7);
  t.w[1] ^= (over >> 31) ^ (over >> 30) ^ (over >> 25);
  return t;
}

// Reverses the bits of every byte.
FN Block xts_turn_bytes(Block t) {
  UNROLL for (u32 i = 0; i < 4; ++i) {
    u32 w = t.w[i];
    w = ((w >> 1) & 0x55555555u) | ((w << 1) & 0xaaaaaaaau);
    w = ((w >> 2) & 0x33333333u) | ((w << 2) & 0xccccccccu);
    t.w[i] = ((w >> 4) & 0x0f0f0f0fu) | ((w << 4) & 0xf0f0f0f0u);
  }
  return t;
}

// Returns t * x^32.
FN Block xts_times_x32(Block t) {
  const Block moved = {{0, t.w[0], t.w[1], t.w[2]}};
  return xts_fold(moved, t.w[3]);
}

FN u32 xts_shift(u32 high, u32 low, u32 bits) {
  return (u32)((((u64)high << 32 | low) << bits) >> 32);
}

// Returns t * x^bits, bits < 32.
FN Block xts_times_x_below_32(Block t, u32 bits) {
  const Block moved = {{t.w[0] << bits, xts_shift(t.w[1], t.w[0], bits),
                        xts_shift(t.w[2], t.w[1], bits), xts_shift(t.w[3], t.w[2], bits)}};
  return xts_fold(moved, xts_shift(0, t.w[3], bits));
}

FN Block xts_times_x_to(Block t, u32 power) {
  for (; power >= 32; power -= 32) t = xts_times_x32(t);
  return xts_times_x_below_32(t, power);
}

// Returns the tweak of the thread's next slot, WARP_THREADS further on.
FN Block xts_step(Block t) {
  return WARP_THREADS == 32 ? xts_times_x32(t) : xts_times_x_below_32(t, WARP_THREADS % 32);
}

// Returns t * x^slots, slots < XTS_STRETCH. x^(128 * 2^i) is x^7 + x^2 + x + 1, squared i times; a
// square is the sum of the squared terms.
FN Block xts_jump(Block t, u32 slots) {
  t = xts_times_x_to(t, slots % 128);
  for (u32 power = 1, left = slots / 128; left != 0; power *= 2, left /= 2) {
    if (left % 2 == 0) continue;
    const Block a = xts_times_x_to(t, 7 * power), b = xts_times_x_to(t, 2 * power);
    t = block_xor(block_xor(t, xts_times_x_to(t, power)), block_xor(a, b));
  }
  return t;
}

// Returns a * b. Threads that have the same b stay together. The loop tests the bits of b one by
// one, the same bit of all four words at a time.
FN Block xts_product(Block a, Block b) {
  u32 sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  ROLLED for (u32 bit = 32; bit-- > 0;) {
    UNROLL for (u32 i = 7; i > 0; --i) sum[i] = xts_shift(sum[i], sum[i - 1], 1);
    sum[0] <<= 1;
    UNROLL for (u32 j = 0; j < 4; ++j) {
      if ((b.w[j] >> bit) & 1) {
        UNROLL for (u32 i = 0; i < 4; ++i) sum[i + j] ^= a.w[i];
      }
    }
  }
  // From the top: reducing sum[7] changes sum[4].
  UNROLL for (u32 i = 4; i-- > 0;) {
    const Block two = {{sum[i], sum[i + 1], 0, 0}};
    const Block folded = xts_fold(two, sum[i + 4]);
    sum[i] = folded.w[0];
    sum[i + 1] = folded.w[1];
  }
  const Block product = {{sum[0], sum[1], sum[2], sum[3]}};
  return product;
}

// Returns t * x^(XTS_STRETCH * stretches).
FN Block xts_jump_stretches(Block t, u32 stretches) {
  for (u32 i = 0; stretches != 0; ++i, stretches /= 2) {
    if (stretches % 2 == 0) continue;
    const Block power = {{kXtsStretchPowers[i][0], kXtsStretchPowers[i][1], kXtsStretchPowers[i][2],
                          kXtsStretchPowers[i][3]}};
    t = xts_product(t, power);
  }
  return t;
}

// Returns the tweak of data unit `units` before it is encrypted: `first` + `units` modulo 2^128,
// little-endian (IEEE 1619, 5.1).
FN Block xts_unit_number(Block first, u64 units) {
  const u64 low = ((u64)first.w[1] << 32 | first.w[0]) + units;
  const u64 high = ((u64)first.w[3] << 32 | first.w[2]) + (low < units ? 1 : 0);
  const Block b = {{(u32)low, (u32)(low >> 32), (u32)high, (u32)(high >> 32)}};
  return b;
}

FN u32 xts_points_of_unit(u32 unit_slots) { return (unit_slots + XTS_STRETCH - 1) / XTS_STRETCH; }

// The position of a thread: a slot of a data unit, with its tweak.
typedef struct XtsPlace {
  u32 unit, slot;
  Block tweak;
} XtsPlace;

// Returns the point at or before `place`. Past the end of a piece, it is a point of another piece,
// or one of the XTS_SPARE_POINTS after the last.
FN Block xts_point(XtsPlace place, GLOBAL const CipherPiece *piece, GLOBAL const u8 *points) {
  const u32 each = xts_points_of_unit(piece->unit_bytes / 16);
  const u64 point = piece->first_point + place.unit * each + place.slot / XTS_STRETCH;
  return load_block(points + 16 * point);
}

FN XtsPlace xts_place(u64 number, GLOBAL const CipherPiece *piece, GLOBAL const u8 *points) {
  const u32 unit_slots = piece->unit_bytes / 16;
  XtsPlace place;
  place.unit = (u32)(number / unit_slots);
  place.slot = (u32)(number % unit_slots);
  place.tweak = xts_jump(xts_point(place, piece, points), place.slot % XTS_STRETCH);
  return place;
}

// Returns the position of the thread's next slot, WARP_THREADS further on. It may lie in a later
// unit, fewer than WARP_THREADS slots from that unit's start.
FN XtsPlace xts_next(XtsPlace place, GLOBAL const CipherPiece *piece, GLOBAL const u8 *points) {
  const u32 unit_slots = piece->unit_bytes / 16;
  place.slot += WARP_THREADS;
  if (place.slot < unit_slots) {
    place.tweak = xts_step(place.tweak);
  } else {
    while (place.slot >= unit_slots) {
      place.slot -= unit_slots;
      place.unit += 1;
    }
    place.tweak = xts_times_x_below_32(xts_point(place, piece, points), place.slot);
  }
  return place;
}

// Computes the tweaks of a thread's next `count` (constant) slots. `stays` says that these slots
// and the one after them are in the thread's data unit.
FN XtsPlace xts_tweaks(Block *tweaks, u32 count, XtsPlace place, u32 stays,
                       GLOBAL const CipherPiece *piece, GLOBAL const u8 *points) {
  if (stays) {
    UNROLL for (u32 n = 0; n < count; ++n) {
      tweaks[n] = place.tweak;
      place.tweak = xts_step(place.tweak);
    }
    place.slot += count * WARP_THREADS;
  } else {
    UNROLL for (u32 n = 0; n < count; ++n) {
      tweaks[n] = place.tweak;
      place = xts_next(place, piece, points);
    }
  }
  return place;
}

// Returns the bytes of a slot: 16, or more for the last slot of a unit that ends in a partial
// block.
FN u32 xts_slot_bytes(XtsPlace place, GLOBAL const CipherPiece *piece) {
  const u64 left = piece->length - (u64)place.unit * piece->unit_bytes;
  const u32 unit_bytes = left < piece->unit_bytes ? (u32)left : piece->unit_bytes;
  return place.slot + 1 == unit_bytes / 16 ? unit_bytes - 16 * place.slot : 16;
}
