// One round of the test of Miller and Rabin (FIPS 186-5, B.3.1) on teams of lanes. No
// include guard: rsa.h includes it for each of its instances, with what is defined there.
//
// Let w - 1 = 2^a m with m odd. w passes for a base b if b^m = 1, or if b^(2^j m) = -1
// for a j < a. The power is computed from the top bit of w - 1 down, by windows and then
// by bits, so it goes through every b^((w - 1) / 2^i) with i <= a. All steps are the same
// whatever w and b are. If a > PRIME_LOW_BITS - 1, the powers with a larger i are not
// looked at. A prime may fail because of that, once in 2^30 times, but no other number
// passes.
//
// SPDX-License-Identifier: Apache-2.0

// All ones if x is odd, otherwise 0.
#define ALL_IF(x) ((RAW)0 - (RAW)(x))

// `bases` holds b R mod w for each trial, less than w. With a base of 0, 1 or -1 nothing
// passes. `table` has PRIME_ROWS * LANE_LIMBS limbs for each of RSA_GROUP lanes of a
// group. passed[n] is all ones or 0.
KERNEL_RESIDENT(RSA_NAME(prime_test), RSA_GROUP, RSA_POWER_RESIDENT)
(GLOBAL const PrimeTestShape *shape, GLOBAL const u8 *candidates, GLOBAL const u32 *trials,
 GLOBAL const u8 *bases, GLOBAL LIMB *table, GLOBAL u32 *passed) {
  TEAM_MEMORY(words, RSA_WORDS, TEAM_LANES_OF(shape));
  Team team;
  team.lanes = TEAM_LANES_OF(shape);
  team.lane = lane_id() % team.lanes;
  team.stride = TEAM_STRIDE(RSA_GROUP, team.lanes);
  team.words = words;
  const u32 teams = group_lanes() / team.lanes;
  const u32 bits = shape->bits, stride = shape->stride_bytes;
  const u32 windows =
      bits <= PRIME_LOW_BITS ? 0 : (bits - PRIME_LOW_BITS + RSA_WINDOW_BITS - 1) / RSA_WINDOW_BITS;
  GLOBAL LIMB *group = table + (u64)group_id() * (PRIME_ROWS * LANE_LIMBS * RSA_GROUP);
  GLOBAL LIMB *entries = group + lane_id();
  GLOBAL LIMB *kept =
      group + RSA_WINDOW_ENTRIES * LANE_LIMBS * RSA_GROUP + (lane_id() - team.lane) * LANE_LIMBS;
  for (u32 first = group_id() * teams; first < shape->count; first += group_count() * teams) {
    const u32 mine = first + lane_id() / team.lanes;
    const u32 at = mine < shape->count ? mine : shape->count - 1;
    GLOBAL const u8 *bytes = candidates + (u64)trials[at] * stride;
    GLOBAL const u32 *from = (GLOBAL const u32 *)bytes;
    const u32 last = stride / 4 - 1;
    const u32 lowest = SWAP_BYTES(from[last]);

    Number w = RSA_NAME(read)(bytes, stride, team);
    RSA_NAME(store)(kept, w, team);
    Modulus modulus;
#ifdef RSA_LONE
    modulus.limbs = kept;
#else
    modulus.limbs = w;
#endif
    const u64 low_limb = TEAM_READ(FROM_LIMB(w.limb[0]), 0, team.lanes);
    u64 inverse = low_limb;  // by Newton's iteration, which starts with 3 correct bits
    for (u32 k = 0; k < 5; ++k) inverse *= 2 - low_limb * inverse;
    modulus.inverse = (0 - inverse) & LIMB_MASK;

    // R mod w: 2^bits - w, which is less than w, doubled until it is R mod w.
    Number zero, x;
    RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) {
      const u32 limb = team.lane * LANE_LIMBS + j;
      zero.limb[j] = 0;
      x.limb[j] = limb == bits / LIMB_BITS ? TO_LIMB(1ull << (bits % LIMB_BITS)) : TO_LIMB(0ull);
    }
    x = RSA_NAME(subtract_add)(x, w, zero, team);
    ONE_BODY for (u32 k = bits; k < team.lanes * LANE_LIMBS * LIMB_BITS; ++k) {
      x = RSA_NAME(add)(x, x, team);
      x = RSA_NAME(reduce_once)(x, RSA_NAME(load)(kept, team), team);
    }
    const Number base = RSA_NAME(read)(bases + (u64)at * stride, stride, team);
    w = RSA_NAME(load)(kept, team);
    u32 is_trivial = RSA_NAME(equal)(base, x, team) | RSA_NAME(equal)(base, zero, team);
    is_trivial |= RSA_NAME(equal)(RSA_NAME(add)(base, x, team), w, team);

    for (u32 e = 0; e < RSA_WINDOW_ENTRIES; ++e) {
      RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) entries[(e * LANE_LIMBS + j) * RSA_GROUP] =
          x.limb[j];
      RSA_NAME(put)(base, team);
      x = RSA_NAME(multiply)(x, modulus, team);
    }

    RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) x.limb[j] = entries[j * RSA_GROUP];
    ONE_BODY for (u32 k = windows; k-- > 0;) {
      const u32 bit = PRIME_LOW_BITS + k * RSA_WINDOW_BITS;
      const u32 digit =
          (SWAP_BYTES(from[last - bit / 32]) >> (bit % 32)) & (RSA_WINDOW_ENTRIES - 1);
      if (k + 1 != windows) {
        ONE_BODY for (u32 s = 0; s < RSA_WINDOW_BITS; ++s) x = RSA_NAME(square)(x, modulus, team);
      }
      RSA_NAME(put)(x, team);
      // Every entry is read, whichever is wanted.
      RAW chosen[LANE_LIMBS];
      RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) chosen[j] = 0;
      ONE_BODY for (u32 e = 0; e < RSA_WINDOW_ENTRIES; ++e) {
        GLOBAL const LIMB *entry = entries + e * (LANE_LIMBS * RSA_GROUP);
        const RAW keep = (RAW)SHIFT_SIGNED((u64)(e ^ digit) - 1, 63);
        RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) chosen[j] |=
            RAW_OF(LOAD_ONCE(entry + j * RSA_GROUP)) & keep;
      }
      Number factor;
      RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) factor.limb[j] = LIMB_OF(chosen[j]);
      x = RSA_NAME(multiply)(factor, modulus, team);
    }

    // x is b^((w - 1) / 2^i) at the end of each turn.
    u32 passes = 0;
    ONE_BODY for (u32 i = PRIME_LOW_BITS; i-- > 1;) {
      const u32 is_set = (lowest >> i) & 1;
      x = RSA_NAME(square)(x, modulus, team);
      RSA_NAME(put)(x, team);
      Number factor, one;
      RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) {
        one.limb[j] = entries[j * RSA_GROUP];
        const RAW yes = RAW_OF(LOAD_ONCE(entries + (LANE_LIMBS + j) * RSA_GROUP));
        factor.limb[j] =
            LIMB_OF((yes & ALL_IF(is_set)) | (RAW_OF(one.limb[j]) & ALL_IF(1 - is_set)));
      }
      x = RSA_NAME(multiply)(factor, modulus, team);
      const Number n = RSA_NAME(load)(kept, team);
      const Number whole = RSA_NAME(reduce_once)(x, n, team);
      // All ones if i <= a; and if i = a.
      const u32 below = lowest & ((1u << i) - 1) & ~1u;
      const u32 divides = (u32)SHIFT_SIGNED((u64)below - 1, 63);
      passes |= divides & RSA_NAME(equal)(RSA_NAME(add)(whole, one, team), n, team);
      passes |= divides & (0u - is_set) & RSA_NAME(equal)(whole, one, team);
    }
    if (at == mine && team.lane == 0) passed[at] = passes & ~is_trivial;
  }
}

#undef ALL_IF
