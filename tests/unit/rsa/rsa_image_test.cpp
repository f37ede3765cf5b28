// RSA keys as they are written for devices. Their blinding pairs are correct, and no two launches
// get the same pair.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <set>
#include <thread>

#include "cpu/rsa/cpu_rsa.h"
#include "cpu/rsa/rsa_image.h"
#include "kernels/rsa/rsa_layout.h"
#include "unit/support/mapping_flags.h"
#include "unit/support/rsa_test_key.h"

namespace lanecrypt::test {
namespace {

using cpu::RsaImageForm;

// kSquares is the number of uses of a base, as in src/cpu/rsa/blinding.cpp. kWrites is more than
// the number of pairs that are drawn at once.
constexpr size_t kSquares = 32, kWrites = 300;

RsaImageForm form_of(bool fp64, uint32_t half_limbs, uint32_t blind_windows) {
  return {.fp64 = fp64,
          .limb_bits = fp64 ? uint32_t{RSA_FP64_BITS} : uint32_t{RSA_U32_BITS},
          .half_limbs = half_limbs,
          .full_limbs = 2 * half_limbs,
          .exponent_words = 34,
          .blind_windows = blind_windows,
          .is_private = true};
}

RsaKeyPointer prepared(const TestKey &key) {
  const lc_rsa_parts parts = key.parts();
  Result<std::shared_ptr<RsaKey>> copied = copy_rsa_key(&parts);
  EXPECT_TRUE(copied.ok() && cpu::prepare(**copied).ok());
  return *copied;
}

// Reads one image as the kernels read it.
class Image {
 public:
  Image(const RsaKey &key, const RsaImageForm &form, cpu::SeededRandom *random = nullptr)
      : form_(form), bytes_(form.bytes()) {
    const Status status = cpu::write_rsa_image(key, form, random, bytes_.data());
    EXPECT_TRUE(status.ok()) << status.text();
  }
  size_t pairs() const { return 1 + RSA_BLIND_ENTRIES * form_.blind_windows; }
  Bn power(size_t pair) const { return number(RSA_BLIND + pair); }
  Bn inverse(size_t pair) const { return number(RSA_BLIND + pairs() + pair); }
  Bn number(size_t which) const {
    const size_t limb_bytes = form_.limb_bytes();
    const uint8_t *at = bytes_.data() + sizeof(RsaKeyHead) + 2 * form_.exponent_words * 4 +
                        which * form_.full_limbs * limb_bytes;
    Bn sum = bn(), limb = bn();
    BN_set_word(sum.get(), 0);
    for (size_t n = form_.full_limbs; n-- > 0;) {
      uint32_t word = 0;
      double value = 0;
      if (form_.fp64)
        memcpy(&value, at + n * limb_bytes, sizeof value);
      else
        memcpy(&word, at + n * limb_bytes, sizeof word);
      BN_set_word(limb.get(), form_.fp64 ? static_cast<BN_ULONG>(value) : word);
      BN_lshift(sum.get(), sum.get(), static_cast<int>(form_.limb_bits));
      BN_add(sum.get(), sum.get(), limb.get());
    }
    return sum;
  }

 private:
  const RsaImageForm form_;
  Bytes bytes_;
};

// Arithmetic mod n, and conversion from the device's Montgomery form.
class Check {
 public:
  Check(const TestKey &key, const RsaImageForm &form) : key_(key) {
    const Bn r = power_of_two(int(form.full_limbs * form.limb_bits));
    EXPECT_NE(nullptr, BN_mod_inverse(out_.get(), r.get(), n(), context_.get()));
  }
  Bn plain(const Bn &number) { return product(number, out_); }
  Bn product(const Bn &a, const Bn &b) {
    Bn result = bn();
    BN_mod_mul(result.get(), a.get(), b.get(), n(), context_.get());
    return result;
  }
  // Whether `power` and `inverse` are r^e and 1/r.
  bool is_pair(const Bn &power, const Bn &inverse) {
    Bn raised = bn();
    BN_mod_exp(raised.get(), plain(inverse).get(), key_.exponent.get(), n(), context_.get());
    return BN_cmp(power.get(), n()) < 0 && BN_cmp(inverse.get(), n()) < 0 &&
           BN_is_one(product(raised, plain(power)).get());
  }

 private:
  const BIGNUM *n() const { return key_.modulus.get(); }

  const TestKey &key_;
  Bn out_ = bn();
  std::unique_ptr<BN_CTX, decltype(&BN_CTX_free)> context_{BN_CTX_new(), &BN_CTX_free};
};

struct Case {
  int bits;
  bool fp64;
  uint32_t half_limbs;
};
// In the cases with fp64 arithmetic the random numbers come from this seed.
const Bytes kSeed(cpu::SeededRandom::kSeedBytes, 7);
const Case kCases[] = {{1024, true, 10}, {1024, false, 20}, {1208, true, 20}, {2048, false, 39}};

TEST(RsaImage, EachBaseIsTheSquareOfTheLastOrFresh) {
  for (const auto &[bits, fp64, half_limbs] : kCases) {
    const TestKey &key = key_of_bits(bits);
    const RsaKeyPointer made = prepared(key);
    const RsaImageForm form = form_of(fp64, half_limbs, 0);
    Check check(key, form);
    cpu::SeededRandom seeded(kSeed), *const random = fp64 ? &seeded : nullptr;
    Bn last = bn();
    std::set<Bytes> seen;
    for (size_t n = 0; n < kWrites; ++n) {
      if (n % 3 == 0) cpu::make_rsa_base_ahead(*made, random);
      const Image image(*made, form, random);
      const Bn power = image.power(0), inverse = image.inverse(0), r = check.plain(inverse);
      ASSERT_TRUE(check.is_pair(power, inverse)) << bits << " bits, image " << n;
      ASSERT_TRUE(seen.insert(bytes_of(r.get())).second) << "image " << n;
      const bool is_square = n > 0 && BN_cmp(r.get(), check.product(last, last).get()) == 0;
      ASSERT_EQ(n % kSquares != 0, is_square) << "image " << n;
      BN_copy(last.get(), r.get());
    }
  }
}

TEST(RsaImage, TablesHoldThePowersOfOnePair) {
  for (const auto &[bits, fp64, half_limbs] : kCases) {
    const TestKey &key = key_of_bits(bits);
    const RsaKeyPointer made = prepared(key);
    const RsaImageForm form = form_of(fp64, half_limbs, 2);
    cpu::SeededRandom seeded(kSeed);
    const Image image(*made, form, fp64 ? &seeded : nullptr);
    Check check(key, form);
    for (size_t n = 0; n < image.pairs(); ++n)
      ASSERT_TRUE(check.is_pair(image.power(n), image.inverse(n))) << bits << " bits, pair " << n;
    // In each table the entries are 1, g, and so on, each g times the one before.
    Bn last = bn();
    BN_one(last.get());
    for (size_t w = 0; w < form.blind_windows; ++w) {
      const auto entry = [&](size_t v) {
        return check.plain(image.inverse(1 + w * RSA_BLIND_ENTRIES + v));
      };
      ASSERT_TRUE(BN_is_one(entry(0).get()));
      const Bn step = entry(1);
      ASSERT_FALSE(BN_is_one(step.get()));
      ASSERT_TRUE(w == 0 || BN_cmp(step.get(), last.get()) == 0) << "table " << w;
      BN_copy(last.get(), step.get());
      for (size_t v = 2; v < RSA_BLIND_ENTRIES; ++v) {
        last = check.product(last, step);
        ASSERT_EQ(0, BN_cmp(entry(v).get(), last.get())) << "entry " << v;
      }
      last = check.product(last, step);
    }
  }
}

// Several devices may use a key, each with an image in its own form.
TEST(RsaImage, FormsShareTheBasesOfAKey) {
  const TestKey &key = key_of_bits(1024);
  const RsaKeyPointer made = prepared(key);
  const RsaImageForm forms[] = {form_of(true, 10, 0), form_of(false, 20, 1), form_of(true, 10, 1)};
  std::set<Bytes> seen;
  for (size_t n = 0; n < kWrites / 4; ++n) {
    const RsaImageForm &form = forms[n % std::size(forms)];
    Check check(key, form);
    const Image image(*made, form);
    ASSERT_TRUE(check.is_pair(image.power(0), image.inverse(0))) << "image " << n;
    ASSERT_TRUE(seen.insert(bytes_of(check.plain(image.inverse(0)).get())).second) << n;
  }
}

TEST(RsaImage, ThreadsNeverGetTheSameBase) {
  const TestKey &key = key_of_bits(1024);
  const RsaKeyPointer made = prepared(key);
  const RsaImageForm form = form_of(true, 10, 0);
  std::vector<std::vector<Bytes>> of_threads(4);
  std::vector<std::thread> threads;
  std::atomic<bool> is_over = false;
  std::thread ahead([&] {
    while (!is_over) cpu::make_rsa_base_ahead(*made, nullptr);
  });
  for (std::vector<Bytes> &bases : of_threads)
    threads.emplace_back([&] {
      Check check(key, form);
      for (size_t n = 0; n < kWrites; ++n) {
        const Image image(*made, form);
        EXPECT_TRUE(check.is_pair(image.power(0), image.inverse(0)));
        bases.push_back(bytes_of(image.inverse(0).get()));
      }
    });
  for (std::thread &thread : threads) thread.join();
  is_over = true;
  ahead.join();
  std::set<Bytes> seen;
  for (const std::vector<Bytes> &bases : of_threads) seen.insert(bases.begin(), bases.end());
  EXPECT_EQ(of_threads.size() * kWrites, seen.size());
}

TEST(RsaImage, WhatASeedGivesDoesNotRepeat) {
  cpu::SeededRandom one(kSeed), same(kSeed), other(Bytes(64, 7));
  std::set<Bytes> seen;
  for (int n = 0; n < 100; ++n) {
    Bytes drawn(40), again(40), others(40);
    ASSERT_TRUE(one.fill(drawn.data(), drawn.size()).ok());
    ASSERT_TRUE(same.fill(again.data(), again.size()).ok());
    ASSERT_TRUE(other.fill(others.data(), others.size()).ok());
    EXPECT_EQ(drawn, again);
    EXPECT_TRUE(seen.insert(drawn).second && seen.insert(others).second) << n;
  }
}

TEST(RsaImage, AChildOfForkHasBasesOfItsOwn) {
  const TestKey &key = key_of_bits(1024);
  const RsaKeyPointer made = prepared(key);
  const RsaImageForm form = form_of(true, 10, 0);
  (void)Image(*made, form);
  cpu::make_rsa_base_ahead(*made, nullptr);
  int ends[2];
  ASSERT_EQ(0, pipe(ends));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  Check check(key, form);
  const Image next(*made, form);
  if (child == 0) {
    const Bytes base = bytes_of(next.inverse(0).get(), 256);
    const bool is_right = check.is_pair(next.power(0), next.inverse(0));
    _exit(is_right && write(ends[1], base.data(), base.size()) == ssize_t(base.size()) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  Bytes of_child(256);
  ASSERT_EQ(ssize_t(of_child.size()), read(ends[0], of_child.data(), of_child.size()));
  EXPECT_TRUE(check.is_pair(next.power(0), next.inverse(0)));
  EXPECT_NE(of_child, bytes_of(next.inverse(0).get(), 256));
  close(ends[0]);
  close(ends[1]);
}

// A child of fork does not inherit locks.
TEST(RsaImage, AChildOfForkLocksTheKeyItUses) {
  const RsaKeyPointer made = prepared(key_of_bits(1024));
  const uint8_t *const numbers = made->memory.data();
  if (flags_of(numbers).find(" lo ") == std::string::npos)
    GTEST_SKIP() << "the limit or the kernel allows no locking";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    const bool before = flags_of(numbers).find(" lo ") != std::string::npos;
    const Image used(*made, form_of(true, 10, 0));
    const bool after = flags_of(numbers).find(" lo ") != std::string::npos;
    _exit(before ? 2 : after ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
}

}  // namespace
}  // namespace lanecrypt::test
