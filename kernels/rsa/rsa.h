// RSA on teams of lanes (RFC 8017, sections 5.1.1 and 5.1.2). No include guard: see
// montgomery.h for what must be defined. A private operation takes three launches:
// rsa_blind multiplies by r^e mod n. rsa_power raises to dp mod p and to dq mod q.
// rsa_finish joins the halves by the Chinese remainder theorem, multiplies by 1/r, and
// checks the result against e. An operation with e is rsa_public.
//
// A team takes one operation after another. Lanes must stay together, so teams without an
// operation repeat the last one and do not write.
//
// SPDX-License-Identifier: Apache-2.0
#include "kernels/number/montgomery.h"

#define Key RSA_NAME(Key)

typedef struct Key {
  GLOBAL const RsaKeyHead *head;
  GLOBAL const u32 *exponents;
  GLOBAL const LIMB *numbers;
} Key;

#ifdef RSA_LONE
#define TEAM_LANES_OF(shape) 1u
#define RSA_WORDS (2 * LANE_LIMBS)
#else
#define TEAM_LANES_OF(shape) ((shape)->team)
#define RSA_WORDS LANE_LIMBS
#endif

FN Team RSA_NAME(make_team)(GLOBAL const RsaShape *shape, TEAM_SPACE u64 *words) {
  Team team;
  team.lanes = TEAM_LANES_OF(shape);
  team.lane = lane_id() % team.lanes;
  team.stride = TEAM_STRIDE(RSA_GROUP, team.lanes);
  team.words = words;
  return team;
}

FN Key RSA_NAME(find_key)(GLOBAL const RsaShape *shape, GLOBAL const u8 *keys, RsaPiece piece) {
  Key key;
  key.head = (GLOBAL const RsaKeyHead *)(keys + piece.key);
  key.exponents = (GLOBAL const u32 *)(key.head + 1);
  key.numbers = (GLOBAL const LIMB *)(key.exponents + 2 * shape->exponent_words);
  return key;
}

FN Number RSA_NAME(load)(GLOBAL const LIMB *from, Team team) {
  Number result;
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) result.limb[j] = from[team.lane * LANE_LIMBS + j];
  return result;
}

FN void RSA_NAME(store)(GLOBAL LIMB *to, Number x, Team team) {
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) to[team.lane * LANE_LIMBS + j] = x.limb[j];
}

// Reads the limbs below `limbs` from memory. The others are 0.
FN Number RSA_NAME(load_short)(GLOBAL const LIMB *from, u32 limbs, Team team) {
  Number result;
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) {
    const u32 at = team.lane * LANE_LIMBS + j;
    result.limb[j] = at < limbs ? from[at] : 0;
  }
  return result;
}

// Number `which` of a key.
FN Number RSA_NAME(number)(GLOBAL const RsaShape *shape, Key key, u32 which, Team team) {
  return RSA_NAME(load)(key.numbers + (u64)which * shape->full_limbs, team);
}

// Number `which` of a key as a modulus.
FN Modulus RSA_NAME(modulus)(GLOBAL const RsaShape *shape, Key key, u32 which, u64 inverse,
                             Team team) {
  Modulus modulus;
#ifdef RSA_LONE
  modulus.limbs = key.numbers + (u64)which * shape->full_limbs;
#else
  modulus.limbs = RSA_NAME(number)(shape, key, which, team);
#endif
  modulus.inverse = inverse;
  return modulus;
}

// Big-endian bytes to limbs.
LARGE_FN Number RSA_NAME(read)(GLOBAL const u8 *from, u32 stride_bytes, Team team) {
  GLOBAL const u32 *words = (GLOBAL const u32 *)from;
  const u32 count = stride_bytes / 4;
  Number result;
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) {
    const u32 bit = (team.lane * LANE_LIMBS + j) * LIMB_BITS;
    const u32 first = bit / 32, shift = bit % 32;
    u64 value = 0;
    UNROLL for (u32 k = 0; k < 3; ++k) {
      const u32 at = first + k;
      const u64 word = at < count ? SWAP_BYTES(words[count - 1 - at]) : 0;
      if (k == 0)
        value = word >> shift;
      else if (32 * k - shift < 64)
        value |= word << (32 * k - shift);
    }
    result.limb[j] = TO_LIMB(value & LIMB_MASK);
  }
  return result;
}

// Writes limbs as big-endian bytes, or zeros unless `keep` is all ones.
LARGE_FN void RSA_NAME(write)(GLOBAL u8 *to, u32 stride_bytes, Number x, u32 keep, Team team) {
  TEAM_BARRIER();
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j)
      team.words[(team.lane * LANE_LIMBS + j) * team.stride] = FROM_LIMB(x.limb[j]);
  TEAM_BARRIER();
  GLOBAL u32 *words = (GLOBAL u32 *)to;
  const u32 count = stride_bytes / 4, limbs = team.lanes * LANE_LIMBS;
  for (u32 w = team.lane; w < count; w += team.lanes) {
    const u32 first = w * 32 / LIMB_BITS, shift = w * 32 % LIMB_BITS;
    u64 value = 0;
    UNROLL for (u32 k = 0; k < 3; ++k) {
      if (first + k >= limbs || LIMB_BITS * k >= 32 + shift) continue;
      const u64 limb = team.words[(first + k) * team.stride];
      value |= k == 0 ? limb >> shift : limb << (LIMB_BITS * k - shift);
    }
    words[count - 1 - w] = SWAP_BYTES((u32)value) & keep;
  }
}

// x times one part of the blinding factor (0: r^e, 1: 1/r) mod n.
LARGE_FN Number RSA_NAME(blind)(Number x, Modulus n, GLOBAL const RsaShape *shape, Key key,
                                u32 random, u32 part, Team team) {
  const u32 pairs = 1 + RSA_BLIND_ENTRIES * shape->blind_windows;
  GLOBAL const LIMB *numbers = key.numbers + (u64)(RSA_BLIND + part * pairs) * shape->full_limbs;
  for (u32 w = 0; w <= shape->blind_windows; ++w) {
    // Random bits of this one operation choose it, not key or message.
    const u32 entry = w == 0 ? 0
                             : 1 + (w - 1) * RSA_BLIND_ENTRIES +
                                   ((random >> (4 * (w - 1))) & (RSA_BLIND_ENTRIES - 1));
    RSA_NAME(put)(x, team);
    x = RSA_NAME(multiply)(RSA_NAME(load)(numbers + (u64)entry * shape->full_limbs, team), n, team);
  }
  return x;
}

// s^e mod n, below n; s < n.
LARGE_FN Number RSA_NAME(raise_to_e)(Number s, Modulus n, GLOBAL const RsaShape *shape, Key key,
                                     Team team) {
  const u64 exponent = key.head->exponent;
  RSA_NAME(put)(s, team);
  const Number base = RSA_NAME(multiply)(RSA_NAME(number)(shape, key, RSA_N_R2, team), n, team);
  Number x = base;
  u32 begun = 0;
  // e is public, so branches may follow it, for all teams of a warp together.
  for (u32 bit = shape->exponent_bits; bit-- > 0;) {
    const u32 is_set = (u32)(exponent >> bit) & 1;
    if (LANES_ANY(begun)) {
      const Number squared = RSA_NAME(square)(x, n, team);
      if (begun) x = squared;
    }
    const u32 multiplies = is_set & ((bit == 0 ? 1u : 0u) | begun);
    if (LANES_ANY(multiplies)) {
      // The last product leaves Montgomery form.
      RSA_NAME(put)(bit == 0 ? s : base, team);
      const Number product = RSA_NAME(multiply)(x, n, team);
      if (multiplies) x = product;
    }
    begun |= is_set;
  }
  return RSA_NAME(reduce_once)(x, RSA_NAME(number)(shape, key, RSA_N, team), team);
}

// All ones if a = b, both less than the modulus; otherwise 0.
FN u32 RSA_NAME(equal)(Number a, Number b, Team team) {
  u64 difference = 0;
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) difference |=
      FROM_LIMB(a.limb[j]) ^ FROM_LIMB(b.limb[j]);
  u64 all = 0;
  for (u32 t = 0; t < team.lanes; ++t) all |= TEAM_READ(difference, t, team.lanes);
  return (u32)SHIFT_SIGNED(all - 1, 63);
}

// The frame of every kernel. The team of this lane takes one of `total` after another, as
// `at`. Teams without one repeat the last, for their barriers, and store nothing. A team
// stores only if `at` is `mine`.
#define RSA_TEAM                                       \
  TEAM_MEMORY(words, RSA_WORDS, TEAM_LANES_OF(shape)); \
  const Team team = RSA_NAME(make_team)(shape, words);

#define RSA_FOR_EACH(total)                     \
  const u32 teams = group_lanes() / team.lanes; \
  for (u32 first = group_id() * teams; first < (total); first += group_count() * teams)

#define RSA_AT(total)                              \
  const u32 mine = first + lane_id() / team.lanes; \
  const u32 at = mine < (total) ? mine : (total)-1;

#define RSA_PIECE                                         \
  const RsaPiece piece = pieces[at];                      \
  const Key key = RSA_NAME(find_key)(shape, keys, piece); \
  const Modulus n = RSA_NAME(modulus)(shape, key, RSA_N, key.head->n_inverse, team);

// The verdicts lie behind all results, so that one copy brings both. A verdict is the
// launch's nonce if the result is right, or, for a public operation, if it was made. What
// an earlier launch left there, or anything else, never equals that.
#define RSA_VERDICTS \
  GLOBAL u32 *verdicts = (GLOBAL u32 *)(out + (u64)shape->count * shape->stride_bytes);

#ifndef RSA_POWER_ONLY

KERNEL(RSA_NAME(blind_all), RSA_GROUP)
(GLOBAL const RsaShape *shape, GLOBAL const u8 *keys, GLOBAL const RsaPiece *pieces,
 GLOBAL const u8 *in, GLOBAL LIMB *blinded) {
  RSA_TEAM
  RSA_FOR_EACH(shape->count) {
    RSA_AT(shape->count)
    RSA_PIECE
    Number x = RSA_NAME(read)(in + (u64)at * shape->stride_bytes, shape->stride_bytes, team);
    x = RSA_NAME(blind)(x, n, shape, key, piece.blind, 0, team);
    if (at == mine) RSA_NAME(store)(blinded + (u64)at * shape->full_limbs, x, team);
  }
}

// It ends one batch while the device raises powers of others. With more registers than a
// group of theirs it would wait until several of those end.
KERNEL_RESIDENT(RSA_NAME(finish_all), RSA_GROUP, RSA_POWER_RESIDENT)
(GLOBAL const RsaShape *shape, GLOBAL const u8 *keys, GLOBAL const RsaPiece *pieces,
 GLOBAL const u8 *in, GLOBAL const LIMB *halves, GLOBAL u8 *out, u32 nonce) {
  RSA_TEAM
  RSA_VERDICTS
  RSA_FOR_EACH(shape->count) {
    RSA_AT(shape->count)
    RSA_PIECE
    const u64 step = shape->half_limbs;
    const Number by_p = RSA_NAME(load_short)(halves + at * step, shape->half_limbs, team);
    const Number by_q =
        RSA_NAME(load_short)(halves + (shape->count + at) * step, shape->half_limbs, team);
    // s = by_q + q ((by_p - by_q)/q mod p).
    Number s = RSA_NAME(subtract_add)(by_p, by_q,
                                      RSA_NAME(number)(shape, key, RSA_P_MULTIPLE, team), team);
    RSA_NAME(put)(s, team);
    s = RSA_NAME(multiply)(RSA_NAME(number)(shape, key, RSA_QINV, team),
                           RSA_NAME(modulus)(shape, key, RSA_P, key.head->p_inverse, team), team);
    RSA_NAME(put)(s, team);
    s = RSA_NAME(multiply)(RSA_NAME(number)(shape, key, RSA_Q_MONTGOMERY, team), n, team);
    s = RSA_NAME(add)(s, by_q, team);
    s = RSA_NAME(blind)(s, n, shape, key, piece.blind, 1, team);
    s = RSA_NAME(reduce_once)(s, RSA_NAME(number)(shape, key, RSA_N, team), team);
    // A result is given out only if the public exponent leads back from it to the input.
    const Number back = RSA_NAME(raise_to_e)(s, n, shape, key, team);
    const Number m = RSA_NAME(read)(in + (u64)at * shape->stride_bytes, shape->stride_bytes, team);
    const u32 is_right = RSA_NAME(equal)(back, m, team);
    if (at == mine) {
      RSA_NAME(write)(out + (u64)at * shape->stride_bytes, shape->stride_bytes, s, is_right, team);
      if (team.lane == 0) verdicts[at] = is_right & nonce;
    }
  }
}

KERNEL(RSA_NAME(public_all), RSA_GROUP)
(GLOBAL const RsaShape *shape, GLOBAL const u8 *keys, GLOBAL const RsaPiece *pieces,
 GLOBAL const u8 *in, GLOBAL u8 *out, u32 nonce) {
  RSA_TEAM
  RSA_VERDICTS
  RSA_FOR_EACH(shape->count) {
    RSA_AT(shape->count)
    RSA_PIECE
    Number x = RSA_NAME(read)(in + (u64)at * shape->stride_bytes, shape->stride_bytes, team);
    x = RSA_NAME(raise_to_e)(x, n, shape, key, team);
    if (at == mine) {
      RSA_NAME(write)
      (out + (u64)at * shape->stride_bytes, shape->stride_bytes, x, 0xffffffffu, team);
      if (team.lane == 0) verdicts[at] = nonce;
    }
  }
}

#endif

#ifndef RSA_NO_POWER

#include "kernels/number/window_table.h"

// The powers mod p of all operations, then those mod q. `table` has
// RSA_WINDOW_ENTRIES * LANE_LIMBS limbs for each of RSA_GROUP lanes of a group.
KERNEL_RESIDENT(RSA_NAME(power_all), RSA_GROUP, RSA_POWER_RESIDENT)
(GLOBAL const RsaShape *shape, GLOBAL const u8 *keys, GLOBAL const RsaPiece *pieces,
 GLOBAL const LIMB *blinded, GLOBAL LIMB *table, GLOBAL LIMB *halves) {
  RSA_TEAM
  const u32 powers = 2 * shape->count;
  GLOBAL TABLE_WORD *entries =
      (GLOBAL TABLE_WORD *)(table +
                            (u64)group_id() * (RSA_WINDOW_ENTRIES * LANE_LIMBS * RSA_GROUP)) +
      lane_id();
  RSA_FOR_EACH(powers) {
    RSA_AT(powers)
    const u32 is_q = at >= shape->count ? 1 : 0;
    const u32 operation = is_q ? at - shape->count : at;
    const Key key = RSA_NAME(find_key)(shape, keys, pieces[operation]);
    const u32 which = is_q ? RSA_Q : RSA_P;
    const Modulus modulus = RSA_NAME(modulus)(
        shape, key, which, is_q ? key.head->q_inverse : key.head->p_inverse, team);
    const Number square_of_h = RSA_NAME(number)(shape, key, which + RSA_P_H2 - RSA_P, team);
    GLOBAL const u32 *exponent = key.exponents + is_q * shape->exponent_words;

    // The input mod p, in Montgomery form: its lower half times H^2 / H, plus its upper
    // half, which counts H times, times H^3 / H.
    GLOBAL const LIMB *input = blinded + (u64)operation * shape->full_limbs;
    RSA_NAME(put)(RSA_NAME(load)(input + shape->half_limbs, team), team);
    const Number upper = RSA_NAME(multiply)(
        RSA_NAME(number)(shape, key, which + RSA_P_H3 - RSA_P, team), modulus, team);
    RSA_NAME(put)(RSA_NAME(load)(input, team), team);
    const Number base = RSA_NAME(add)(RSA_NAME(multiply)(square_of_h, modulus, team), upper, team);

    Number one;
    RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) one.limb[j] = 0;
    if (team.lane == 0) one.limb[0] = 1;
    RSA_NAME(put)(one, team);
    Number x = RSA_NAME(multiply)(square_of_h, modulus, team);
    for (u32 e = 0; e < RSA_WINDOW_ENTRIES; ++e) {
      RSA_NAME(put_entry)(entries, e, x);
      RSA_NAME(put)(base, team);
      x = RSA_NAME(multiply)(x, modulus, team);
    }

    ONE_BODY for (u32 w = shape->windows; w-- > 0;) {
      const u32 digit = (exponent[w / 8] >> (4 * (w % 8))) & (RSA_WINDOW_ENTRIES - 1);
      if (w + 1 != shape->windows) {
        ONE_BODY for (u32 k = 0; k < RSA_WINDOW_BITS; ++k) x = RSA_NAME(square)(x, modulus, team);
      }
      RSA_NAME(put)(x, team);
      const Number factor = RSA_NAME(take_entry)(entries, digit);
      x = w + 1 == shape->windows ? factor : RSA_NAME(multiply)(factor, modulus, team);
    }
    RSA_NAME(put)(one, team);
    x = RSA_NAME(multiply)(x, modulus, team);
    x = RSA_NAME(reduce_once)(x, RSA_NAME(number)(shape, key, which, team), team);
    if (at == mine) RSA_NAME(store)(halves + (u64)at * shape->half_limbs, x, team);
  }
}

#include "prime_test.h"

#endif

#undef TABLE_WORD
#undef TABLE_WORDS
#undef RSA_TEAM
#undef RSA_FOR_EACH
#undef RSA_AT
#undef RSA_PIECE
#undef RSA_VERDICTS
#undef Number
#undef Team
#undef Modulus
#undef Key
#undef TEAM_LANES_OF
#undef RSA_WORDS
#undef LIMB_MASK
#undef BIAS_LEFT
#undef RSA_ROWS
#undef SQUARE_SUMS
#undef ROW_BIAS
