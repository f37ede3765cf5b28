// Powers on a whole warp, with a lane for each limb. For batches that leave the device
// idle, where it counts how soon a product is done, not how much work it takes. No
// include guard: included for each RSA_WIDE_LIMBS, which is even and less than 31, with
// limbs_fp64.h and these defined:
//   RSA_NAME(x)            x with the name of this instance
//   RSA_POWER_RESIDENT     as for rsa.h
//
// In montgomery.h each row waits for the quotient of the row before. Here a product is
// three whole ones: T = a b, Q = T (-1/n) mod R, and Q n. (T + Q n) / R is the result.
// Lane c sums up column c of each, and column c + RSA_WIDE_LIMBS of T and of Q n. Only
// the carries wait: they take one step to the next lane, and then one addition for all
// lanes. In that, a lane that is full passes on what comes in, and a lane that overflows
// makes a carry.
//
// All steps are the same whatever the numbers are: no branch and no address depends on
// them.
//
// SPDX-License-Identifier: Apache-2.0

#define COUNT ((u32)RSA_WIDE_LIMBS)
#define LIMB_MASK ((1ull << LIMB_BITS) - 1)
// The memory of a team, in words.
#define FIRST 0      // a
#define LOWER 32     // T mod R
#define QUOTIENT 64  // Q
#define SECOND 128   // b, with zeros before and after
#define ENTRIES 192  // the powers of a window
#define WIDE_WORDS (32 * RSA_WIDE_LANE_WORDS)

#define Wide RSA_NAME(Wide)
#define WideModulus RSA_NAME(WideModulus)
#define WidePair RSA_NAME(WidePair)

typedef struct Wide {
  u32 lane;
  u64 keep;  // all ones; 0 in the lanes beyond the limbs, which hold zeros
  u64 mask;  // of a limb; 0 there
  TEAM_SPACE u64 *words;
} Wide;

// The factors of this lane, one for each row.
typedef struct WideModulus {
  LIMB inverse[COUNT];  // -1/n mod R: columns below R
  LIMB limbs[COUNT];    // n: columns from R up; and two below, for their carry
} WideModulus;

typedef struct __attribute__((aligned(16))) WidePair {
  u64 word[2];
} WidePair;

// x of the lane below. The first lane gets that of the last limb.
#define FROM_BELOW(x) TEAM_READ((x), team.lane == 0 ? COUNT - 1u : team.lane - 1u, 32)

// Turns columns into limbs. The overflow of the last one is in *over, in the first lane.
FN u64 RSA_NAME(carry)(u64 column, u32 *over, Wide team) {
  const u32 moved = FROM_BELOW((u32)(column >> LIMB_BITS));
  column = (column & team.mask) + (team.lane == 0 ? 0 : moved);
  const u32 makes = TEAM_BALLOT(column > LIMB_MASK), passes = TEAM_BALLOT(column == LIMB_MASK);
  const u32 enters = ((makes | passes) + makes) ^ passes;
  *over = moved + ((enters >> COUNT) & 1);
  return (column + ((enters >> team.lane) & 1)) & team.mask;
}

// Adds up limbs in the team's memory times factors of this lane.
FN void RSA_NAME(rows)(TEAM_SPACE const u64 *limbs, const LIMB *factors, u64 *low, u64 *high) {
  *low = 0 - COUNT * LOW_BIAS;
  *high = 0 - COUNT * HIGH_BIAS;
  UNROLL for (u32 i = 0; i < COUNT; i += 2) {
    const WidePair pair = *(TEAM_SPACE const WidePair *)(limbs + i);
    ADD_PRODUCT(*low, *high, LIMB_OF(pair.word[0]), factors[i]);
    ADD_PRODUCT(*low, *high, LIMB_OF(pair.word[1]), factors[i + 1]);
  }
}

// The limbs in memory times the factors mod R, plus `more` in the first lane. The part
// beyond R is in *high, and in *over as carry() gives it.
FN u64 RSA_NAME(rows_below)(TEAM_SPACE const u64 *limbs, const LIMB *factors, u64 more, u64 *high,
                            u32 *over, Wide team) {
  u64 low;
  RSA_NAME(rows)(limbs, factors, &low, high);
  const u64 below = FROM_BELOW(*high);
  return RSA_NAME(carry)((low + (team.lane == 0 ? more : below)) & team.keep, over, team);
}

// Reads the factors of this lane, row after row, from `from` down.
FN void RSA_NAME(factors)(LIMB *factors, TEAM_SPACE const u64 *from) {
  UNROLL for (u32 i = 0; i < COUNT; ++i) factors[i] = LIMB_OF(*(from - i));
}

// a b / R mod n, less than 2n if a b < 4 n R.
FN LIMB RSA_NAME(multiply)(LIMB a, LIMB b, const WideModulus *n, Wide team) {
  team.words[FIRST + team.lane] = RAW_OF(a);
  team.words[SECOND + team.lane] = RAW_OF(b);
  TEAM_BARRIER();
  LIMB factors[COUNT];
  u64 low, high, lower_high, upper_low, upper_high;
  u32 over, none;
  RSA_NAME(factors)(factors, team.words + SECOND + team.lane);
  const u64 lower = RSA_NAME(rows_below)(team.words + FIRST, factors, 0, &lower_high, &over, team);
  team.words[LOWER + team.lane] = RAW_OF(TO_LIMB(lower));
  RSA_NAME(factors)(factors, team.words + SECOND + COUNT + team.lane);
  RSA_NAME(rows)(team.words + FIRST, factors, &upper_low, &upper_high);
  TEAM_BARRIER();
  const u64 q = RSA_NAME(rows_below)(team.words + LOWER, n->inverse, 0, &high, &none, team);
  team.words[QUOTIENT + team.lane] = RAW_OF(TO_LIMB(q));
  TEAM_BARRIER();
  RSA_NAME(rows)(team.words + QUOTIENT, n->limbs, &low, &high);
  // The part of the sum below R is a multiple of R. Its two highest columns tell which
  // multiple, with an error of much less than a half.
  const u64 highest = TEAM_READ(low + lower, COUNT - 1, 32) + TEAM_READ(high, COUNT, 32);
  const u64 entering = over + ((highest + (1ull << (LIMB_BITS - 1))) >> LIMB_BITS);
  const u64 above = FROM_BELOW(high + (team.lane == COUNT - 1 ? lower_high : upper_high));
  const u64 column =
      upper_low + above + (team.lane == COUNT - 1 ? 0 : low) + (team.lane == 0 ? entering : 0);
  return TO_LIMB(RSA_NAME(carry)(column & team.keep, &none, team));
}

// The factors of this lane for multiplying by x mod R.
FN void RSA_NAME(factors_below)(LIMB *factors, u64 x, Wide team) {
  TEAM_BARRIER();
  team.words[SECOND + team.lane] = RAW_OF(TO_LIMB(x));
  TEAM_BARRIER();
  RSA_NAME(factors)(factors, team.words + SECOND + team.lane);
}

// n, and -1/n mod 2^LIMB_BITS.
FN void RSA_NAME(make_modulus)(WideModulus *modulus, u64 n, u64 inverse, Wide team) {
  // Newton's iteration, which doubles the number of right bits each time.
  LIMB of_n[COUNT], of_rest[COUNT];
  RSA_NAME(factors_below)(of_n, n, team);
  u64 x = team.lane == 0 ? inverse : 0, high;
  u32 over;
  ONE_BODY for (u32 bits = LIMB_BITS; bits < COUNT * LIMB_BITS; bits *= 2) {
    team.words[LOWER + team.lane] = RAW_OF(TO_LIMB(x));
    TEAM_BARRIER();
    const u64 rest = RSA_NAME(rows_below)(team.words + LOWER, of_n, 2, &high, &over, team);
    RSA_NAME(factors_below)(of_rest, rest, team);
    x = RSA_NAME(rows_below)(team.words + LOWER, of_rest, 0, &high, &over, team);
    TEAM_BARRIER();
  }
  RSA_NAME(factors_below)(modulus->inverse, x, team);
  RSA_NAME(factors_below)(of_n, n, team);
  // The column above R. In the next two lanes it is the columns below that, in the others
  // 0.
  u32 column = team.lane + COUNT;
  if (team.lane == COUNT - 1) column = COUNT - 1;
  if (team.lane == COUNT) column = COUNT - 2;
  RSA_NAME(factors)(modulus->limbs, team.words + SECOND + column);
  TEAM_BARRIER();
}

// x if x < n, otherwise x - n; x < 2n.
FN u64 RSA_NAME(reduce_once)(u64 x, u64 n, Wide team) {
  const u64 rest = x - n;
  const u32 makes = TEAM_BALLOT(x < n), passes = TEAM_BALLOT(x == n);
  const u32 enters = ((makes | passes) + makes) ^ passes;
  // All ones if x < n: then the last lane makes a carry or passes one on.
  const u32 is_less = (makes >> 31) | ((passes >> 31) & (enters >> 31));
  const u64 keep = 0 - (u64)is_less;
  return (x & keep) | (((rest - ((enters >> team.lane) & 1)) & team.mask) & ~keep);
}

// The entry of a window, whose digit is in a word of the exponent. Every entry is read,
// whichever is wanted.
FN LIMB RSA_NAME(take_entry)(u32 word, u32 window, Wide team) {
  const u32 digit = (word >> (4 * (window % 8))) & (RSA_WINDOW_ENTRIES - 1);
  RAW chosen = 0;
  UNROLL for (u32 e = 0; e < RSA_WINDOW_ENTRIES; ++e) {
    const u32 is_other = ((e ^ digit) + RSA_WINDOW_ENTRIES - 1) / RSA_WINDOW_ENTRIES;
    const u32 keep = is_other - 1;
    chosen |= team.words[ENTRIES + 32 * e + team.lane] & ((RAW)keep << 32 | keep);
  }
  return LIMB_OF(chosen);
}

// As in rsa.h; `table` is not used.
KERNEL_RESIDENT(RSA_NAME(power_all), RSA_GROUP, RSA_POWER_RESIDENT)
(GLOBAL const RsaShape *shape, GLOBAL const u8 *keys, GLOBAL const RsaPiece *pieces,
 GLOBAL const LIMB *blinded, GLOBAL LIMB *table, GLOBAL LIMB *halves) {
  WARP_MEMORY(words, WIDE_WORDS);
  Wide team;
  team.lane = lane_id() % 32;
  team.keep = team.lane < COUNT ? ~0ull : 0;
  team.mask = team.keep & LIMB_MASK;
  team.words = words;
  for (u32 w = team.lane; w < WIDE_WORDS; w += 32) words[w] = 0;
  TEAM_BARRIER();
  const u32 powers = 2 * shape->count, teams = group_lanes() / 32;
  for (u32 at = group_id() * teams + lane_id() / 32; at < powers; at += group_count() * teams) {
    const u32 is_q = at >= shape->count ? 1 : 0;
    const u32 operation = is_q ? at - shape->count : at;
    GLOBAL const RsaKeyHead *head = (GLOBAL const RsaKeyHead *)(keys + pieces[operation].key);
    GLOBAL const u32 *exponent = (GLOBAL const u32 *)(head + 1);
    GLOBAL const LIMB *numbers = (GLOBAL const LIMB *)(exponent + 2 * shape->exponent_words);
    exponent += is_q * shape->exponent_words;
    numbers += (u64)(is_q ? RSA_Q : RSA_P) * shape->full_limbs;
    GLOBAL const LIMB *input = blinded + (u64)operation * shape->full_limbs;
    const u32 holds = team.lane < COUNT;
    const u64 n = holds ? FROM_LIMB(numbers[team.lane]) : 0;
    WideModulus modulus;
    RSA_NAME(make_modulus)(&modulus, n, is_q ? head->q_inverse : head->p_inverse, team);

    // The input in Montgomery form, as in rsa.h, and its powers. One loop body does all
    // of these, and another does all that follows: code that is run for the first time
    // costs time too.
    const LIMB one = team.lane == 0 ? 1.0 : 0.0;
    const LIMB square_of_h = holds ? numbers[shape->full_limbs + team.lane] : 0.0;
    LIMB x = holds ? numbers[2 * shape->full_limbs + team.lane] : 0.0;
    LIMB y = holds ? input[COUNT + team.lane] : 0.0, base = 0.0;
    ONE_BODY for (u32 k = 0; k < 2 + RSA_WINDOW_ENTRIES; ++k) {
      const LIMB product = RSA_NAME(multiply)(x, y, &modulus, team);
      if (k == 0) {
        base = product;
        x = square_of_h;
        y = holds ? input[team.lane] : 0.0;
      } else if (k == 1) {
        u32 none;
        base = TO_LIMB(RSA_NAME(carry)(FROM_LIMB(base) + FROM_LIMB(product), &none, team));
        y = one;
      } else {
        words[ENTRIES + 32 * (k - 2) + team.lane] = RAW_OF(product);
        x = product;
        y = base;
      }
    }

    // Words of the exponent are read one window ahead.
    u32 window = shape->windows - 1, word = exponent[window / 8];
    x = RSA_NAME(take_entry)(word, window, team);
    word = exponent[(window > 0 ? window - 1 : 0) / 8];
    // The last product leaves Montgomery form.
    ONE_BODY for (u32 left = window * (RSA_WINDOW_BITS + 1) + 1; left-- > 0;) {
      y = x;
      if (left == 0) {
        y = one;
      } else if (left % (RSA_WINDOW_BITS + 1) == 1) {
        --window;
        y = RSA_NAME(take_entry)(word, window, team);
        word = exponent[(window > 0 ? window - 1 : 0) / 8];
      }
      x = RSA_NAME(multiply)(x, y, &modulus, team);
    }
    const u64 result = RSA_NAME(reduce_once)(FROM_LIMB(x), n, team);
    if (holds) halves[(u64)at * shape->half_limbs + team.lane] = TO_LIMB(result);
    TEAM_BARRIER();
  }
  for (u32 w = team.lane; w < WIDE_WORDS; w += 32) words[w] = 0;
}

#undef COUNT
#undef LIMB_MASK
#undef FIRST
#undef SECOND
#undef LOWER
#undef QUOTIENT
#undef ENTRIES
#undef WIDE_WORDS
#undef Wide
#undef WideModulus
#undef WidePair
#undef FROM_BELOW
