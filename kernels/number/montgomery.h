// Montgomery arithmetic on a team of lanes, each of which holds LANE_LIMBS
// limbs of a number, the first lane the lowest. (P. Montgomery, "Modular
// multiplication without trial division", 1985; rows of products, each followed
// by its reduction.) No include guard: included once for each kind of limb and
// number of them, with these defined:
//   LIMB ...        limbs_fp64.h or limbs_u32.h
//   LANE_LIMBS      limbs of one lane
//   RSA_NAME(x)     x with the name of this instance
//   RSA_UNROLL      UNROLL, or nothing where the limbs are too many for registers
//   RSA_LONE        defined: a team is one lane, and squares by half the
//                   products; RSA_SQUARE_BLOCK divides LANE_LIMBS
//
// All steps are the same whatever the numbers are: no branch and no address depends on
// them.
//
// SPDX-License-Identifier: Apache-2.0

#define LIMB_MASK ((1ull << LIMB_BITS) - 1)
// The bias that position j of the sums still gets from the rows to come, each of so many
// products.
#define BIAS_LEFT(j, products) ((u64)(products) * (((u64)(j) + 1) * LOW_BIAS + (u64)(j)*HIGH_BIAS))
#define ROW_BIAS(products) ((u64)(products)*LANE_LIMBS * (LOW_BIAS + HIGH_BIAS))

#define Number RSA_NAME(Number)
#define Team RSA_NAME(Team)
#define Modulus RSA_NAME(Modulus)

typedef struct Number {
  LIMB limb[LANE_LIMBS];
} Number;

typedef struct Team {
  u32 lanes, lane;
  // Memory of the team: word k is at words[k * stride].
  TEAM_SPACE u64 *words;
  u32 stride;
} Team;

// Turns the sums of a row of products into limbs. The sums are signed. The number that
// they make is not negative, and fits into the limbs.
LARGE_FN Number RSA_NAME(normalize)(u64 *sum, Team team) {
  Number result;
  u64 carry = 0;
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) {
    sum[j] += carry;
    carry = SHIFT_SIGNED(sum[j], LIMB_BITS);
    sum[j] &= LIMB_MASK;
  }
  for (u32 t = 1; t < team.lanes; ++t) {
    carry = TEAM_PREVIOUS(carry, team.lanes);
    if (team.lane == 0) carry = 0;
    RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) {
      sum[j] += carry;
      carry = SHIFT_SIGNED(sum[j], LIMB_BITS);
      sum[j] &= LIMB_MASK;
    }
  }
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) result.limb[j] = TO_LIMB(sum[j]);
  return result;
}

// a + b.
FN Number RSA_NAME(add)(Number a, Number b, Team team) {
  u64 sum[LANE_LIMBS];
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) sum[j] =
      FROM_LIMB(a.limb[j]) + FROM_LIMB(b.limb[j]);
  return RSA_NAME(normalize)(sum, team);
}

// a - b + c, which is not negative.
FN Number RSA_NAME(subtract_add)(Number a, Number b, Number c, Team team) {
  u64 sum[LANE_LIMBS];
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) sum[j] =
      FROM_LIMB(a.limb[j]) - FROM_LIMB(b.limb[j]) + FROM_LIMB(c.limb[j]);
  return RSA_NAME(normalize)(sum, team);
}

// x if x < n, otherwise x - n; x < 2n.
LARGE_FN Number RSA_NAME(reduce_once)(Number x, Number n, Team team) {
  u64 rest[LANE_LIMBS];
  u64 borrow = 0;
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) {
    rest[j] = FROM_LIMB(x.limb[j]) - FROM_LIMB(n.limb[j]) + borrow;
    borrow = SHIFT_SIGNED(rest[j], LIMB_BITS);
    rest[j] &= LIMB_MASK;
  }
  u64 below = borrow;
  for (u32 t = 1; t < team.lanes; ++t) {
    u64 in = TEAM_PREVIOUS(below, team.lanes);
    if (team.lane == 0) in = 0;
    below = in;
    RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) {
      rest[j] += below;
      below = SHIFT_SIGNED(rest[j], LIMB_BITS);
      rest[j] &= LIMB_MASK;
    }
    borrow += below;
  }
  // All ones where x < n.
  const u64 is_less = TEAM_READ(borrow, team.lanes - 1, team.lanes);
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) x.limb[j] =
      TO_LIMB((FROM_LIMB(x.limb[j]) & is_less) | (rest[j] & ~is_less));
  return x;
}

// Puts b into the team's memory, for multiply().
FN void RSA_NAME(put)(Number b, Team team) {
  TEAM_BARRIER();
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j)
      team.words[(team.lane * LANE_LIMBS + j) * team.stride] = RAW_OF(b.limb[j]);
  TEAM_BARRIER();
}

// A modulus n with -1/n mod 2^LIMB_BITS.
typedef struct Modulus {
#ifdef RSA_LONE
  GLOBAL const LIMB *limbs;  // read each time: registers are scarce
#else
  Number limbs;
#endif
  u64 inverse;
} Modulus;

#ifndef RSA_LONE

// Short rows are done several at a time: the products of the next row need not wait for
// this row's q.
#if LANE_LIMBS <= 5
#define RSA_ROWS UNROLL_FOUR_TIMES
#elif LANE_LIMBS <= 15
#define RSA_ROWS UNROLL_TWICE
#else
#define RSA_ROWS ONE_BODY
#endif

// a b / R mod n, below 2n where a b < 4 n R; b is in the team's memory.
LARGE_FN Number RSA_NAME(multiply)(Number a, Modulus n, Team team) {
  const u32 rows = team.lanes * LANE_LIMBS;
  u64 sum[LANE_LIMBS + 1];
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) sum[j] = 0 - BIAS_LEFT(j, 2);
  RSA_ROWS for (u32 i = 0; i < rows; ++i) {
    const LIMB b = LIMB_OF(team.words[i * team.stride]);
    sum[LANE_LIMBS] = 0;
    RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) ADD_PRODUCT(sum[j], sum[j + 1], a.limb[j], b);
    // The biases are multiples of 2^LIMB_BITS, so they do not show here.
    const LIMB q = TO_LIMB((TEAM_READ(sum[0], 0, team.lanes) * n.inverse) & LIMB_MASK);
    RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j)
        ADD_PRODUCT(sum[j], sum[j + 1], n.limbs.limb[j], q);
    // The lowest position of the team is a multiple of 2^LIMB_BITS now. The lowest
    // positions of the other lanes go to the lane below.
    const u64 carry = team.lane == 0 ? SHIFT_SIGNED(sum[0], LIMB_BITS) : 0;
    u64 above = TEAM_NEXT(sum[0], team.lanes);
    if (team.lane + 1 == team.lanes) above = 0;
    RSA_UNROLL for (u32 j = 0; j + 1 < LANE_LIMBS; ++j) sum[j] = sum[j + 1];
    sum[LANE_LIMBS - 1] = sum[LANE_LIMBS] + above - ROW_BIAS(2);
    sum[0] += carry;
  }
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) sum[j] += BIAS_LEFT(j, 2);
  return RSA_NAME(normalize)(sum, team);
}

LARGE_FN Number RSA_NAME(square)(Number a, Modulus n, Team team) {
  RSA_NAME(put)(a, team);
  return RSA_NAME(multiply)(a, n, team);
}

#else

// Divides by R mod n: the columns of a product, as 2 LANE_LIMBS sums in the team's
// memory.
LARGE_FN Number RSA_NAME(reduce)(Modulus n, Team team) {
  u64 sum[LANE_LIMBS + 1];
  Number modulus;
  TEAM_BARRIER();  // so that the compiler keeps no modulus from before
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) modulus.limb[j] = n.limbs[j];
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) sum[j] =
      team.words[j * team.stride] - BIAS_LEFT(j, 1);
  ONE_BODY for (u32 i = 0; i < LANE_LIMBS; ++i) {
    const u64 above = team.words[(LANE_LIMBS + i) * team.stride];
    const LIMB q = TO_LIMB((sum[0] * n.inverse) & LIMB_MASK);
    sum[LANE_LIMBS] = 0;
    RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j)
        ADD_PRODUCT(sum[j], sum[j + 1], modulus.limb[j], q);
    const u64 carry = SHIFT_SIGNED(sum[0], LIMB_BITS);
    RSA_UNROLL for (u32 j = 0; j + 1 < LANE_LIMBS; ++j) sum[j] = sum[j + 1];
    sum[LANE_LIMBS - 1] = sum[LANE_LIMBS] + above - ROW_BIAS(1);
    sum[0] += carry;
  }
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) sum[j] += BIAS_LEFT(j, 1);
  return RSA_NAME(normalize)(sum, team);
}

// As above. The columns take the place of the parts of b that are used up.
LARGE_FN Number RSA_NAME(multiply)(Number a, Modulus n, Team team) {
  u64 sum[LANE_LIMBS + 1];
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) sum[j] = 0 - BIAS_LEFT(j, 1);
  ONE_BODY for (u32 i = 0; i < LANE_LIMBS; ++i) {
    const LIMB b = LIMB_OF(team.words[i * team.stride]);
    sum[LANE_LIMBS] = 0;
    RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) ADD_PRODUCT(sum[j], sum[j + 1], a.limb[j], b);
    team.words[i * team.stride] = sum[0];
    RSA_UNROLL for (u32 j = 0; j + 1 < LANE_LIMBS; ++j) sum[j] = sum[j + 1];
    sum[LANE_LIMBS - 1] = sum[LANE_LIMBS] - ROW_BIAS(1);
  }
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) team.words[(LANE_LIMBS + j) * team.stride] =
      sum[j] + BIAS_LEFT(j, 1);
  return RSA_NAME(reduce)(n, team);
}

#define SQUARE_SUMS (RSA_MOST(LANE_LIMBS, 2 * RSA_SQUARE_BLOCK) + 1)

// Computes each product of two different limbs once, and doubles it. It takes
// RSA_SQUARE_BLOCK rows at a time: first the products of their limbs with each other,
// then those with all limbs above. The latter is a loop: fully unrolled code does not fit
// into the instruction caches.
LARGE_FN Number RSA_NAME(square)(Number a, Modulus n, Team team) {
  // At the head of a block, position k holds column 2 * first + k. The upper ones are 0.
  u64 sum[SQUARE_SUMS];
  RSA_UNROLL for (u32 k = 0; k < SQUARE_SUMS; ++k) sum[k] = 0;
  TEAM_BARRIER();
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) {
    // No column overwrites a limb before the limb has been used.
    team.words[(LANE_LIMBS + j) * team.stride] = RAW_OF(a.limb[j]);
  }
  TEAM_BARRIER();
  RSA_UNROLL for (u32 first = 0; first < LANE_LIMBS; first += RSA_SQUARE_BLOCK) {
    const u32 above = LANE_LIMBS - first - RSA_SQUARE_BLOCK;
    // The limb is read again, which keeps the compiler from mixing the rows. Mixed, they
    // would lose the operand that they share.
    LIMB next = LIMB_OF(team.words[(LANE_LIMBS + first) * team.stride]);
    RSA_UNROLL for (u32 r = 0; r < RSA_SQUARE_BLOCK; ++r) {
      const LIMB b = next;
      if (r + 1 < RSA_SQUARE_BLOCK) {
        TEAM_BARRIER();
        next = LIMB_OF(team.words[(LANE_LIMBS + first + r + 1) * team.stride]);
      }
      RSA_UNROLL for (u32 t = r + 1; t < RSA_SQUARE_BLOCK; ++t) {
        sum[r + t] -= LOW_BIAS;
        sum[r + t + 1] -= HIGH_BIAS;
        ADD_PRODUCT(sum[r + t], sum[r + t + 1], a.limb[first + t], b);
      }
      u64 squares[2] = {0 - LOW_BIAS, 0 - HIGH_BIAS};
      ADD_PRODUCT(squares[0], squares[1], a.limb[first + r], b);
      // These two columns get nothing more in this block.
      RSA_UNROLL for (u32 k = 2 * r; k < 2 * r + 2; ++k) {
        const u64 others = k < RSA_SQUARE_BLOCK || above == 0 ? 2 * sum[k] : 0;
        team.words[(2 * first + k) * team.stride] = squares[k - 2 * r] + others;
      }
    }
    if (above == 0) break;
    // From here on, in row r, position k holds column 2 * first + RSA_SQUARE_BLOCK + r +
    // k, without what this block still adds to it.
    RSA_UNROLL for (u32 k = 0; k <= above; ++k) sum[k] =
        sum[k + RSA_SQUARE_BLOCK] + (k == above ? LOW_BIAS : 0) -
        RSA_LEAST(k + 1, RSA_SQUARE_BLOCK) * LOW_BIAS - RSA_LEAST(k, RSA_SQUARE_BLOCK) * HIGH_BIAS;
    u64 entering = 0 - HIGH_BIAS - (RSA_SQUARE_BLOCK - 2) * (LOW_BIAS + HIGH_BIAS);
    ONE_BODY for (u32 r = 0; r < RSA_SQUARE_BLOCK; ++r) {
      const LIMB b = LIMB_OF(team.words[(LANE_LIMBS + first + r) * team.stride]);
      RSA_UNROLL for (u32 m = 0; m < above; ++m)
          ADD_PRODUCT(sum[m], sum[m + 1], a.limb[first + RSA_SQUARE_BLOCK + m], b);
      team.words[(2 * first + RSA_SQUARE_BLOCK + r) * team.stride] += 2 * sum[0];
      RSA_UNROLL for (u32 m = 0; m < above; ++m) sum[m] = sum[m + 1];
      sum[above] = entering;
      entering += LOW_BIAS + HIGH_BIAS;
    }
    RSA_UNROLL for (u32 k = above; k < SQUARE_SUMS; ++k) sum[k] = 0;
  }
  return RSA_NAME(reduce)(n, team);
}

#endif
