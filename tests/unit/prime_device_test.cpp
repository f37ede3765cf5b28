// The search for primes on devices: what their kernels and the CPU say of numbers
// that are known.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>

#include "cpu/cpu_rsa.h"
#include "cpu/prime_key.h"
#include "long_numbers.h"
#include "public_exponents.h"
#include "schedule/prime_tester.h"
#include "schedule/rsa_launch.h"

namespace lanecrypt::schedule {
namespace {

using namespace test;

// (6m+1)(12m+1)(18m+1), all three prime.
constexpr char kCarmichaelM[] = "87754e1bf24bed63ac8888e6bf419fa5dd57cc8687";

struct Known {
  std::string name;
  Bn number;
  bool prime;
};

std::vector<Known> known_numbers(int bits) {
  std::vector<Known> all;
  const auto add = [&](std::string name, Bn number) {
    EXPECT_EQ(bits, BN_num_bits(number.get())) << name;
    const bool prime = is_prime(number.get());
    all.push_back({std::move(name), std::move(number), prime});
  };
  const auto next_prime = [](Bn number) {
    while (!is_prime(number.get())) BN_add_word(number.get(), 2);
    return number;
  };
  BN_CTX *context = BN_CTX_new();
  add("2^(k-1)+1", power_of_two(bits - 1, 1));
  add("2^k-1", power_of_two(bits, -1));
  add("the first prime of the length", next_prime(power_of_two(bits - 1, 1)));
  Bn high = power_of_two(bits, -1);
  while (!is_prime(high.get())) BN_sub_word(high.get(), 2);
  add("the last prime of the length", std::move(high));
  for (int n = 0; n < 3; ++n) {
    Bn prime = bn();
    BN_generate_prime_ex(prime.get(), bits, 0, nullptr, nullptr, nullptr);
    add("a prime", std::move(prime));
    Bn composite = bn();
    BN_priv_rand(composite.get(), bits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ODD);
    add("a random number", std::move(composite));
  }
  // Two primes: what a search must never take.
  Bn first = bn(), second = bn(), product = bn();
  do {
    BN_generate_prime_ex(first.get(), bits / 2, 0, nullptr, nullptr, nullptr);
    BN_generate_prime_ex(second.get(), bits - bits / 2, 0, nullptr, nullptr, nullptr);
    BN_mul(product.get(), first.get(), second.get(), context);
  } while (BN_num_bits(product.get()) != bits);
  add("two primes", bn(BN_dup(product.get())));
  // Primes that are 1 mod 2^a: -1 comes late, or not at all.
  for (const int halvings : {2, 3, 7, 14, 15, 16, 20, 40}) {
    Bn number = power_of_two(bits - 1), step = power_of_two(halvings + 1);
    BN_add_word(number.get(), static_cast<BN_ULONG>(1) << halvings | 1);
    while (!is_prime(number.get())) BN_add(number.get(), number.get(), step.get());
    add("1 mod 2^" + std::to_string(halvings), std::move(number));
  }
  if (bits == 512) {
    BIGNUM *m = nullptr;
    BN_hex2bn(&m, kCarmichaelM);
    Bn carmichael = bn();
    BN_one(carmichael.get());
    for (const BN_ULONG k : {6, 12, 18}) {
      Bn factor = bn(BN_dup(m));
      BN_mul_word(factor.get(), k);
      BN_add_word(factor.get(), 1);
      EXPECT_TRUE(is_prime(factor.get()));
      BN_mul(carmichael.get(), carmichael.get(), factor.get(), context);
    }
    BN_free(m);
    add("a Carmichael number", std::move(carmichael));
    // (4^257 + 1) / 5 is a strong pseudoprime to base 2.
    Bn pseudoprime = power_of_two(514, 1);
    BN_div_word(pseudoprime.get(), 5);
    add("a strong pseudoprime to base 2", std::move(pseudoprime));
  }
  BN_CTX_free(context);
  return all;
}

struct Case {
  device::Found found;
  std::string form;
};
void PrintTo(const Case &one, std::ostream *stream) {
  *stream << one.found.properties.id << " " << one.form;
}
std::vector<Case> cases() {
  std::vector<Case> all;
  const char *wanted = getenv("LANECRYPT_TEST_DEVICES");
  for (const device::Found &found : device::find_all()) {
    if (!found.properties.unusable.empty()) continue;
    if (found.properties.api == "gl") continue;  // it has no RSA
    if (wanted != nullptr && std::string(wanted).find(found.properties.api) == std::string::npos)
      continue;
    if (found.properties.fast_fp64) all.push_back({found, "fp64"});
    all.push_back({found, "u32"});
  }
  return all;
}

class PrimeDeviceTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    setenv("LANECRYPT_RSA_FORM", GetParam().form.c_str(), 1);
    Result<std::unique_ptr<PrimeTester>> made = make_device_primes(GetParam().found);
    ASSERT_TRUE(made.ok()) << made.status().text();
    tester_ = std::move(*made);
  }
  void TearDown() override { unsetenv("LANECRYPT_RSA_FORM"); }
  // R of primes of that length.
  int montgomery_bits(uint32_t bits) const {
    const RsaClass &size = rsa_class(rsa_kind(2 * bits));
    return GetParam().form == "fp64" ? int(size.fp64_limbs * RSA_FP64_BITS)
                                     : int(size.u32_limbs * RSA_U32_BITS);
  }
  std::unique_ptr<PrimeTester> tester_;
};

TEST_P(PrimeDeviceTest, SieveSaysWhatTheCpuSays) {
  for (const uint32_t bits : {512u, 1000u}) {
    const uint32_t stride = cpu::prime_stride_bytes(bits);
    const auto table =
        std::make_shared<const cpu::SieveTable>(cpu::make_sieve_table(stride, kComposite));
    const size_t count = 1500;
    ASSERT_TRUE(tester_->reserve(bits, count, 0).ok());
    ASSERT_TRUE(
        cpu::draw_candidates(cpu::random_bytes, bits, tester_->candidates().first(count * stride))
            .ok());
    const Bytes numbers(tester_->candidates().begin(), tester_->candidates().end());
    Bytes survives(count, 7);
    ASSERT_TRUE(tester_->sieve(table, count, survives).ok());
    for (size_t n = 0; n < count; ++n)
      ASSERT_EQ(cpu::survives(*table, numbers.data() + n * stride), survives[n] == 1) << n;
    tester_->forget();
  }
}

// The kernel and the CPU agree on every number and every base, and both are right.
TEST_P(PrimeDeviceTest, KnownNumbers) {
  const bool is_gpu = GetParam().found.properties.is_gpu;
  for (const int bits : is_gpu ? std::vector<int>{512, 523, 768, 1024, 1536, 2048, 3072, 4096}
                               : std::vector<int>{512, 523, 768}) {
    SCOPED_TRACE(bits);
    const uint32_t stride = cpu::prime_stride_bytes(uint32_t(bits));
    static std::map<int, std::vector<Known>> made;
    if (made.count(bits) == 0) made[bits] = known_numbers(bits);
    const std::vector<Known> &numbers = made[bits];
    BN_CTX *context = BN_CTX_new();
    // Bases: 0, 1, 2, -1, and random ones.
    constexpr size_t kBases = 8;
    std::vector<uint32_t> trials;
    for (uint32_t n = 0; n < numbers.size(); ++n) trials.insert(trials.end(), kBases, n);
    ASSERT_TRUE(tester_->reserve(uint32_t(bits), numbers.size(), trials.size()).ok());
    std::vector<Bytes> bases;
    const Bn r = power_of_two(montgomery_bits(uint32_t(bits)));
    for (size_t n = 0; n < numbers.size(); ++n) {
      const BIGNUM *w = numbers[n].number.get();
      const Bytes bytes = bytes_of(w, stride);
      std::copy(bytes.begin(), bytes.end(), tester_->candidates().data() + n * stride);
      for (size_t k = 0; k < kBases; ++k) {
        Bn base = bn(), form = bn();
        if (k < 3)
          BN_set_word(base.get(), k);
        else if (k == 3)
          BN_sub(base.get(), w, BN_value_one());
        else
          BN_rand_range(base.get(), w);
        bases.push_back(bytes_of(base.get(), stride));
        BN_mod_mul(form.get(), base.get(), r.get(), w, context);
        const Bytes there = bytes_of(form.get(), stride);
        std::copy(there.begin(), there.end(),
                  tester_->bases().data() + (bases.size() - 1) * stride);
      }
    }
    const auto table = std::make_shared<const cpu::SieveTable>(cpu::make_sieve_table(stride, kF4));
    Bytes survives(numbers.size()), passed(trials.size(), 7);
    ASSERT_TRUE(tester_->sieve(table, numbers.size(), survives).ok());
    ASSERT_TRUE(tester_->test(uint32_t(bits), trials, passed).ok());
    for (size_t n = 0; n < numbers.size(); ++n) {
      size_t passes = 0;
      for (size_t k = 0; k < kBases; ++k) {
        const size_t at = n * kBases + k;
        Result<bool> told = cpu::passes_round(bytes_of(numbers[n].number.get(), stride), bases[at]);
        ASSERT_TRUE(told.ok());
        EXPECT_EQ(*told, passed[at] == 1) << numbers[n].name << ", base " << k;
        passes += k != 2 ? passed[at] : 0;
      }
      // Of a prime all but 0, 1 and -1; of another number fewer, if any.
      EXPECT_EQ(numbers[n].prime, passes == kBases - 4) << numbers[n].name;
      EXPECT_FALSE(passed[n * kBases] || passed[n * kBases + 1] || passed[n * kBases + 3]);
      if (numbers[n].name.starts_with("a strong")) {
        EXPECT_EQ(1, passed[n * kBases + 2]);
      }
    }
    BN_CTX_free(context);
    tester_->forget();
  }
}

INSTANTIATE_TEST_SUITE_P(, PrimeDeviceTest, testing::ValuesIn(cases()), [](const auto &one) {
  std::string name = one.param.found.properties.id + "_" + one.param.form;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PrimeDeviceTest);

}  // namespace
}  // namespace lanecrypt::schedule
