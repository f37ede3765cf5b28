// RSA keys whose numbers are consistent but whose "primes" are composite.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rsa_test_key.h"

namespace lanecrypt::test {

inline bool is_small_prime(unsigned number) {
  for (unsigned divisor = 3; divisor * divisor <= number; divisor += 2)
    if (number % divisor == 0) return false;
  return true;
}

// Returns a key whose p and q, of 513 bits each, are products of small odd numbers without a common
// factor. About one number in six has an inverse mod n. Keys with a different `variant` differ.
inline TestKey key_of_small_factors(unsigned variant) {
  constexpr int kPrimeBits = 513;
  BN_CTX *context = BN_CTX_new();
  Bn p = bn(), q = bn();
  const Bn exponent = bn(), less = bn(), common = bn();
  BN_one(p.get());
  BN_one(q.get());
  BN_set_word(exponent.get(), 65537);
  bool is_ps_turn = true;
  for (unsigned number = 3; BN_num_bits(p.get()) < 480 || BN_num_bits(q.get()) < 480; number += 2) {
    if (!is_small_prime(number)) continue;
    BIGNUM *const to = (is_ps_turn ? p : q).get();
    if (BN_num_bits(to) < 480) BN_mul_word(to, number);
    is_ps_turn = !is_ps_turn;
  }
  // The last factor sets the length, and makes the keys of different `variant` differ.
  const auto complete = [&](Bn &number, const Bn &other) {
    const int missing = kPrimeBits - BN_num_bits(number.get());
    uint64_t last = (uint64_t{3} << (missing - 1)) / 2 / 2 * 2 + 2 * variant + 1;
    while (true) {
      const Bn whole = bn(BN_dup(number.get()));
      BN_mul_word(whole.get(), last);
      last += 2;
      BN_gcd(common.get(), whole.get(), other.get(), context);
      if (!BN_is_one(common.get()) || BN_num_bits(whole.get()) != kPrimeBits) continue;
      BN_sub(less.get(), whole.get(), BN_value_one());
      BN_gcd(common.get(), less.get(), exponent.get(), context);
      if (!BN_is_one(common.get())) continue;
      BN_copy(number.get(), whole.get());
      return;
    }
  };
  complete(p, q);
  complete(q, p);
  BN_CTX_free(context);
  return TestKey(p.get(), q.get(), exponent.get());
}

// Returns a key whose p is the product of two primes of equal length, and whose q is a prime. e is
// a power of 2 plus 1.
inline TestKey key_with_composite(int bits, int exponent_bits = 17) {
  const Bn exponent = bn();
  BN_set_bit(exponent.get(), exponent_bits - 1);
  BN_set_bit(exponent.get(), 0);
  BN_CTX *context = BN_CTX_new();
  const Bn p = bn(), q = bn(), factor = bn(), less = bn(), common = bn();
  do {
    BN_generate_prime_ex(p.get(), bits / 4, 0, nullptr, nullptr, nullptr);
    BN_generate_prime_ex(factor.get(), bits / 4, 0, nullptr, nullptr, nullptr);
    BN_mul(p.get(), p.get(), factor.get(), context);
    BN_sub(less.get(), p.get(), BN_value_one());
    BN_gcd(common.get(), less.get(), exponent.get(), context);
  } while (!BN_is_one(common.get()) || BN_num_bits(p.get()) != bits / 2 ||
           !BN_is_bit_set(p.get(), bits / 2 - 2));
  do {
    BN_generate_prime_ex(q.get(), bits / 2, 0, nullptr, nullptr, nullptr);
    BN_sub(less.get(), q.get(), BN_value_one());
    BN_gcd(common.get(), less.get(), exponent.get(), context);
  } while (!BN_is_one(common.get()) || !BN_is_bit_set(q.get(), bits / 2 - 2));
  BN_CTX_free(context);
  return TestKey(p.get(), q.get(), exponent.get());
}

// Returns a key with a composite p and a prime q such that q-1 is a multiple of the order of every
// number mod p. So in^d mod n is right, and the result by dp and dq is wrong.
inline TestKey key_that_only_d_serves() {
  const Bn exponent = bn();
  BN_set_word(exponent.get(), 65537);
  BN_CTX *context = BN_CTX_new();
  const Bn a = bn(), p = bn(), less = bn(), common = bn(), factor = bn();
  // b-1 is a multiple of a-1, so the order of each number mod a divides b-1.
  const auto prime_above = [&](Bn &to, const Bn &step, int bits) {
    do {
      BN_rand(factor.get(), bits - BN_num_bits(step.get()) + 1, BN_RAND_TOP_ONE,
              BN_RAND_BOTTOM_ANY);
      BN_mul(to.get(), factor.get(), step.get(), context);
      BN_add_word(to.get(), 1);
    } while (!BN_check_prime(to.get(), context, nullptr));
  };
  Bn b_number = bn(), q_number = bn();
  while (true) {
    BN_generate_prime_ex(a.get(), 128, 0, nullptr, nullptr, nullptr);
    Bn step = bn(BN_dup(a.get()));
    BN_sub_word(step.get(), 1);
    prime_above(b_number, step, 383);
    BN_mul(p.get(), a.get(), b_number.get(), context);
    BN_copy(step.get(), b_number.get());
    BN_sub_word(step.get(), 1);
    prime_above(q_number, step, 513);
    bool is_good = true;
    for (const BIGNUM *number :
         {static_cast<const BIGNUM *>(p.get()), static_cast<const BIGNUM *>(q_number.get())}) {
      BN_sub(less.get(), number, BN_value_one());
      BN_gcd(common.get(), less.get(), exponent.get(), context);
      is_good = is_good && BN_is_one(common.get());
    }
    BN_mul(less.get(), p.get(), q_number.get(), context);
    if (is_good && BN_num_bits(less.get()) >= 1024 && BN_num_bits(p.get()) <= 514 &&
        BN_num_bits(q_number.get()) <= 514)
      break;
  }
  BN_CTX_free(context);
  return TestKey(p.get(), q_number.get(), exponent.get());
}

// Returns a key with p = r (2r-1), where r and 2r-1 are primes and r is 3 mod 4. A random base
// passes one round of the Miller-Rabin test of p with probability 1/4, the maximum for a composite
// number. q is prime. Every second result by dp is wrong, and in^d mod n is right.
inline TestKey key_that_often_passes() {
  const Bn exponent = bn();
  BN_set_word(exponent.get(), 65537);
  BN_CTX *context = BN_CTX_new();
  const Bn r = bn(), other = bn(), p = bn(), q = bn(), less = bn(), rest = bn(), dp = bn();
  const auto is_prime = [&](const Bn &number) {
    return BN_check_prime(number.get(), context, nullptr) == 1;
  };
  while (true) {
    BN_rand(r.get(), 256, BN_RAND_TOP_TWO, BN_RAND_BOTTOM_ODD);
    BN_set_bit(r.get(), 1);
    BN_lshift1(other.get(), r.get());
    BN_sub_word(other.get(), 1);
    if (!is_prime(r) || !is_prime(other)) continue;
    BN_mul(p.get(), r.get(), other.get(), context);
    BN_sub(less.get(), p.get(), BN_value_one());
    if (BN_mod_inverse(dp.get(), exponent.get(), less.get(), context) == nullptr) continue;
    // This requires that (e dp - 1) / (p - 1) is odd.
    BN_mul(rest.get(), dp.get(), exponent.get(), context);
    BN_sub_word(rest.get(), 1);
    BN_div(rest.get(), nullptr, rest.get(), less.get(), context);
    if (BN_is_odd(rest.get())) break;
  }
  do {
    BN_generate_prime_ex(q.get(), 513, 0, nullptr, nullptr, nullptr);
    BN_sub(less.get(), q.get(), BN_value_one());
    BN_mod(rest.get(), less.get(), exponent.get(), context);
  } while (BN_is_zero(rest.get()));
  BN_CTX_free(context);
  return TestKey(p.get(), q.get(), exponent.get());
}

// Returns a key of two primes, one much longer than the other.
inline TestKey key_of_unequal_primes(int longer_bits, int shorter_bits, const Bn &exponent) {
  BN_CTX *context = BN_CTX_new();
  const Bn less = bn(), common = bn();
  const auto prime = [&](int bits) {
    Bn number = bn();
    do {
      BN_generate_prime_ex(number.get(), bits, 0, nullptr, nullptr, nullptr);
      BN_sub(less.get(), number.get(), BN_value_one());
      BN_gcd(common.get(), less.get(), exponent.get(), context);
    } while (!BN_is_one(common.get()));
    return number;
  };
  TestKey key(prime(longer_bits).get(), prime(shorter_bits).get(), exponent.get());
  BN_CTX_free(context);
  return key;
}

inline TestKey key_of_unequal_primes(int longer_bits, int shorter_bits) {
  const Bn exponent = bn();
  BN_set_word(exponent.get(), 65537);
  return key_of_unequal_primes(longer_bits, shorter_bits, exponent);
}

}  // namespace lanecrypt::test
