// Candidates for primes inside the library: how they are drawn, which ones the CPU's sieve leaves,
// and its Miller-Rabin rounds on small numbers.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cpu/random.h"
#include "cpu/rsa/prime_candidates.h"
#include "cpu/rsa/prime_key.h"
#include "public_exponents.h"
#include "unit/support/long_numbers.h"

namespace lanecrypt::runtime {
namespace {

using namespace test;

TEST(PrimeCandidates, AreOddAndLargeAndDiffer) {
  for (const uint32_t bits : {512u, 515u, 568u, 1024u, 1537u}) {
    const uint32_t stride = cpu::prime_stride_bytes(bits);
    Bytes numbers(100 * stride, 0xff);
    ASSERT_TRUE(cpu::draw_candidates(cpu::random_bytes, bits, numbers).ok());
    // Their squares have the full length.
    Bn least = power_of_two(2 * int(bits) - 1), square = bn();
    BN_CTX *context = BN_CTX_new();
    int zeros = 0, odd_halves = 0;
    for (size_t n = 0; n < 100; ++n) {
      const std::span<const uint8_t> number(numbers.data() + n * stride, stride);
      const Bn value = bn_of(number);
      EXPECT_TRUE(BN_is_odd(value.get()));
      EXPECT_EQ(int(bits), BN_num_bits(value.get()));
      BN_sqr(square.get(), value.get(), context);
      EXPECT_GE(BN_cmp(square.get(), least.get()), 0) << bits;
      zeros += BN_is_bit_set(value.get(), int(bits) - 66) ? 0 : 1;
      odd_halves += BN_is_bit_set(value.get(), 1) ? 1 : 0;
    }
    BN_CTX_free(context);
    // Each of these checks fails by chance once in a million runs.
    EXPECT_GT(zeros, 24);
    EXPECT_LT(zeros, 76);
    EXPECT_GT(odd_halves, 24);
    EXPECT_LT(odd_halves, 76);
  }
}

TEST(PrimeCandidates, BasesAreBelowTheirCandidates) {
  const uint32_t bits = 514, stride = cpu::prime_stride_bytes(bits);
  // The least candidate of its length: every second draw is too large.
  Bytes candidate = bytes_of(power_of_two(int(bits) - 1, 1).get(), stride);
  const std::vector<uint32_t> trials(200, 0);
  Bytes bases(trials.size() * stride);
  ASSERT_TRUE(cpu::draw_bases(cpu::random_bytes, bits, candidate, trials, bases).ok());
  const Bn limit = bn_of(candidate);
  for (size_t n = 0; n < trials.size(); ++n)
    EXPECT_LT(BN_cmp(bn_of({bases.data() + n * stride, stride}).get(), limit.get()), 0);
}

TEST(PrimeCandidates, AFailingGeneratorIsTold) {
  int left = 1;
  const auto random = [&](void *, size_t) {
    return left-- > 0 ? Status() : Status(LC_ERROR_INTERNAL, "no more");
  };
  Bytes numbers(8 * 64);
  EXPECT_EQ("no more", cpu::draw_candidates(random, 512, numbers).text());
}

TEST(PrimeSieve, LeavesWhatNoSmallPrimeDivides) {
  for (const auto &[e, bytes] : {std::pair(kF4, sizeof kF4), {kComposite, sizeof kComposite}}) {
    const uint32_t bits = 520, stride = cpu::prime_stride_bytes(bits);
    const cpu::SieveTable table = cpu::make_sieve_table(stride, {e, bytes});
    const size_t count = 3000;
    Bytes numbers(count * stride);
    ASSERT_TRUE(cpu::draw_candidates(cpu::random_bytes, bits, numbers).ok());
    size_t left = 0;
    for (size_t n = 0; n < count; ++n) {
      const uint8_t *number = numbers.data() + n * stride;
      const Bn value = bn_of({number, stride});
      bool survives = true;
      for (const SmallPrime &small : table.primes) {
        const BN_ULONG rest = BN_mod_word(value.get(), small.prime);
        survives &= rest != 0 && (rest != 1 || small.of_exponent == 0);
      }
      ASSERT_EQ(survives, cpu::survives(table, number));
      left += survives ? 1 : 0;
    }
    EXPECT_NEAR(double(left) / count, table.survivors, 0.05);
    EXPECT_GT(left, 0u);
  }
  // e itself, a prime that is too large for the small ones, and the factors of a composite e.
  const cpu::SieveTable of_f4 = cpu::make_sieve_table(64, kF4),
                        of_composite = cpu::make_sieve_table(64, kComposite);
  EXPECT_EQ(65537u, of_f4.primes.back().prime);
  EXPECT_EQ(1u, of_f4.primes.back().of_exponent);
  EXPECT_EQ(0u, of_f4.primes[0].of_exponent);
  for (int n = 0; n < 3; ++n) EXPECT_EQ(1u, of_composite.primes[n].of_exponent);
  EXPECT_EQ(0u, of_composite.primes[3].of_exponent);
}

// Every odd number below 2000 with every base, checked with 64-bit arithmetic.
TEST(MillerRabin, SmallNumbers) {
  for (uint64_t w = 3; w < 2000; w += w < 100 ? 2 : 38) {
    const auto power = [w](uint64_t b, uint64_t e) {
      uint64_t result = 1;
      for (; e != 0; e >>= 1, b = b * b % w)
        if (e & 1) result = result * b % w;
      return result;
    };
    uint64_t odd = w - 1, halvings = 0;
    for (; odd % 2 == 0; odd /= 2) ++halvings;
    const uint8_t candidate[] = {uint8_t(w >> 8), uint8_t(w)};
    for (uint64_t b = 0; b < w; ++b) {
      bool passes = power(b, odd) == 1;
      for (uint64_t j = 0; j < halvings; ++j) passes |= power(b, odd << j) == w - 1;
      passes &= b > 1 && b < w - 1;
      const uint8_t base[] = {uint8_t(b >> 8), uint8_t(b)};
      Result<bool> told = cpu::passes_round(candidate, base);
      ASSERT_TRUE(told.ok());
      ASSERT_EQ(passes, *told) << w << " base " << b;
    }
  }
}

}  // namespace
}  // namespace lanecrypt::runtime
