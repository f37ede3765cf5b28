// The search for primes on every device and the CPU: what their kernels say about known numbers.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>

#include "cpu/random.h"
#include "cpu/rsa/prime_key.h"
#include "device/device_enumeration.h"
#include "primes/prime_tester.h"
#include "public_exponents.h"
#include "rsa/rsa_launch.h"
#include "unit/support/cavp_file.h"
#include "unit/support/long_numbers.h"

namespace lanecrypt::runtime {
namespace {

using namespace test;

// m of the Carmichael number (6m+1)(12m+1)(18m+1), all three factors prime.
constexpr char kCarmichaelM[] = "87754e1bf24bed63ac8888e6bf419fa5dd57cc8687";

struct Known {
  std::string name;
  Bn number;
  bool prime;
};

// Long primes, found once because that takes OpenSSL minutes. The first prime of its length is
// 2^(bits-1) + `first`. The last two primes are 2^bits - `last` and 2^bits - `last_but_one`. For
// each a of kLongHalvings, the first prime above 2^(bits-1) + 2^a that is 1 mod 2^a lies `steps`
// times 2^(a+1) higher. The test KnownNumbers has OpenSSL test them all the same.
constexpr int kLongHalvings[] = {3, 16, 40};
struct LongPrimes {
  int bits;
  int first, last, last_but_one;
  BN_ULONG steps[std::size(kLongHalvings)];
};
constexpr LongPrimes kLongPrimes[] = {
    {1536, 699, 3453, 4977, {320, 267, 738}},
    {2048, 1919, 1557, 2543, {686, 516, 266}},
    {3072, 2291, 47, 2165, {1601, 134, 534}},
    {4096, 579, 2549, 8067, {1287, 606, 57}},
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
  const auto known = [](int length) {
    return std::find_if(std::begin(kLongPrimes), std::end(kLongPrimes),
                        [&](const LongPrimes &one) { return one.bits == length; });
  };
  if (const auto primes = known(bits); primes != std::end(kLongPrimes)) {
    add("the first prime of the length", power_of_two(bits - 1, primes->first));
    add("the last prime of the length", power_of_two(bits, -primes->last));
    for (size_t n = 0; n < std::size(kLongHalvings); ++n) {
      const int halvings = kLongHalvings[n];
      Bn number = power_of_two(halvings + 1);
      BN_mul_word(number.get(), primes->steps[n]);
      BN_add(number.get(), number.get(), power_of_two(bits - 1, 1).get());
      BN_add(number.get(), number.get(), power_of_two(halvings).get());
      add("1 mod 2^" + std::to_string(halvings), std::move(number));
      EXPECT_TRUE(all.back().prime) << all.back().name;
    }
    for (int n = 0; n < 3; ++n) {
      Bn number = bn();
      BN_priv_rand(number.get(), bits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ODD);
      add("a random number", std::move(number));
    }
    if (const auto half = known(bits / 2); half != std::end(kLongPrimes)) {
      Bn product = bn();
      BN_mul(product.get(), power_of_two(bits / 2, -half->last).get(),
             power_of_two(bits / 2, -half->last_but_one).get(), context);
      add("two primes", std::move(product));
    }
    BN_CTX_free(context);
    return all;
  }
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
  // A product of two primes, which a search must never accept.
  Bn first = bn(), second = bn(), product = bn();
  do {
    BN_generate_prime_ex(first.get(), bits / 2, 0, nullptr, nullptr, nullptr);
    BN_generate_prime_ex(second.get(), bits - bits / 2, 0, nullptr, nullptr, nullptr);
    BN_mul(product.get(), first.get(), second.get(), context);
  } while (BN_num_bits(product.get()) != bits);
  add("two primes", bn(BN_dup(product.get())));
  // Primes that are 1 mod 2^a. For these the value -1 comes late in a Miller-Rabin round, or not at
  // all.
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
  for (const device::Found &found : device::find_all_here()) {
    if (!found.properties.unusable.empty()) continue;
    if (found.properties.api == "gl") continue;  // OpenGL has no RSA
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
  // Returns the bits of the Montgomery radix R for primes of that length.
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

// The kernel and the CPU agree about every number and every base, and both are right.
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
    // The bases are 0, 1, 2, -1, and random ones.
    const size_t bases_each = bits > 1024 ? 6 : 8;
    std::vector<uint32_t> trials;
    for (uint32_t n = 0; n < numbers.size(); ++n) trials.insert(trials.end(), bases_each, n);
    ASSERT_EQ("", tester_->reserve(uint32_t(bits), numbers.size(), trials.size()).text());
    std::vector<Bytes> bases;
    const Bn r = power_of_two(montgomery_bits(uint32_t(bits)));
    for (size_t n = 0; n < numbers.size(); ++n) {
      const BIGNUM *w = numbers[n].number.get();
      const Bytes bytes = bytes_of(w, stride);
      std::copy(bytes.begin(), bytes.end(), tester_->candidates().data() + n * stride);
      for (size_t k = 0; k < bases_each; ++k) {
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
    ASSERT_EQ("", tester_->sieve(table, numbers.size(), survives).text());
    ASSERT_EQ("", tester_->test(uint32_t(bits), trials, passed).text());
    for (size_t n = 0; n < numbers.size(); ++n) {
      size_t passes = 0;
      for (size_t k = 0; k < bases_each; ++k) {
        const size_t at = n * bases_each + k;
        Result<bool> told = cpu::passes_round(bytes_of(numbers[n].number.get(), stride), bases[at]);
        ASSERT_TRUE(told.ok());
        EXPECT_EQ(*told, passed[at] == 1) << numbers[n].name << ", base " << k;
        passes += k != 2 ? passed[at] : 0;
      }
      // For a prime all bases pass except 0, 1 and -1. For a composite number fewer pass, if any.
      EXPECT_EQ(numbers[n].prime, passes == bases_each - 4) << numbers[n].name;
      EXPECT_FALSE(passed[n * bases_each] || passed[n * bases_each + 1] ||
                   passed[n * bases_each + 3]);
      if (numbers[n].name.starts_with("a strong")) {
        EXPECT_EQ(1, passed[n * bases_each + 2]);
      }
    }
    BN_CTX_free(context);
    tester_->forget();
  }
}

// The keys of NIST's KeyGenRSA.rsp. Their primes were generated by another method (X9.31, from
// primes p1, p2 and so on). The tests therefore cover what comes after: that the device accepts
// them as primes, and which key is made of them. FIPS 186-5, A.1.3, does not allow their exponents
// 3 and 17, and lanecrypt does not generate such keys.
struct CavpKey {
  uint32_t bits;
  Bytes e, p, q, n, d;
};
std::vector<CavpKey> cavp_keys() {
  std::vector<CavpKey> keys;
  const auto number = [](const CavpCase &one, const char *name) {
    return bytes_of(bn_of(one.bytes(name)).get());  // without leading zeros
  };
  for (const CavpCase &one : read_cavp("asymmetric/RSA/FIPS_186-2/KeyGenRSA.rsp"))
    if (one.has("d"))
      keys.push_back({uint32_t(one.number("mod")), number(one, "e"), number(one, "p"),
                      number(one, "q"), number(one, "n"), number(one, "d")});
  EXPECT_EQ(30u, keys.size());
  return keys;
}
Bytes as_bytes(std::span<const uint8_t> number) { return {number.begin(), number.end()}; }

TEST_P(PrimeDeviceTest, PrimesOfCavpPass) {
  if (!cavp_is_here()) GTEST_SKIP() << kCavpIsMissing;
  size_t tested = 0;
  for (const CavpKey &key : cavp_keys()) {
    if (!GetParam().found.properties.is_gpu && key.bits > 1536) continue;
    const uint32_t bits = key.bits / 2, stride = cpu::prime_stride_bytes(bits);
    // Each prime and a composite number, with two bases each.
    const std::vector<uint32_t> trials = {0, 0, 1, 1, 2, 2};
    ASSERT_TRUE(tester_->reserve(bits, 3, trials.size()).ok());
    const Bn none = bn_of(key.p);
    BN_add_word(none.get(), 2);
    const bool is_twin = is_prime(none.get());
    const std::span<uint8_t> candidates = tester_->candidates();
    size_t at = 0;
    for (const Bytes &number : {key.p, key.q, bytes_of(none.get())}) {
      ASSERT_EQ(stride, number.size());
      std::copy(number.begin(), number.end(), candidates.data() + stride * at++);
    }
    ASSERT_TRUE(cpu::draw_bases(cpu::random_bytes, bits, candidates.first(3 * stride), trials,
                                tester_->bases().first(trials.size() * stride))
                    .ok());
    const auto table = std::make_shared<const cpu::SieveTable>(cpu::make_sieve_table(stride, kF4));
    Bytes survives(3, 7), passed(trials.size(), 7);
    ASSERT_TRUE(tester_->sieve(table, 3, survives).ok());
    // 65537 may divide p-1 or q-1 if the key has another exponent.
    EXPECT_EQ(survives[0] == 1, cpu::survives(*table, key.p.data()));
    EXPECT_EQ(survives[1] == 1, cpu::survives(*table, key.q.data()));
    ASSERT_TRUE(tester_->test(bits, trials, passed).ok());
    EXPECT_EQ((Bytes{1, 1, 1, 1, is_twin, is_twin}), passed) << key.bits;
    tester_->forget();
    tested += 2;
  }
  EXPECT_EQ(GetParam().found.properties.is_gpu ? 60u : 24u, tested);
}

TEST(KeyGenVectors, KeysOfCavpAreMade) {
  if (!cavp_is_here()) GTEST_SKIP() << kCavpIsMissing;
  for (const CavpKey &key : cavp_keys()) {
    SCOPED_TRACE(std::to_string(key.bits) + " bits");
    // make_rsa_key() signs a number, and checks with OpenSSL that verification returns it.
    Result<cpu::MadeKey> made = cpu::make_rsa_key(cpu::random_bytes, key.bits, key.e, key.p, key.q);
    ASSERT_TRUE(made.ok()) << made.status().text();
    ASSERT_EQ(cpu::MadeKey::Verdict::kGood, made->verdict);
    const RsaNumbers &parts = made->key->numbers;
    EXPECT_EQ(key.n, as_bytes(parts.n));
    EXPECT_EQ(key.d, as_bytes(parts.d));
    EXPECT_EQ(std::max(key.p, key.q), as_bytes(parts.p));
    EXPECT_EQ(std::min(key.p, key.q), as_bytes(parts.q));
    // Checks d against p and q, and qinv.
    BN_CTX *context = BN_CTX_new();
    const Bn d = bn_of(key.d), less = bn(), rest = bn();
    for (const auto &[prime, part] : {std::pair{parts.p, parts.dp}, {parts.q, parts.dq}}) {
      BN_sub(less.get(), bn_of(as_bytes(prime)).get(), BN_value_one());
      BN_mod(rest.get(), d.get(), less.get(), context);
      EXPECT_EQ(bytes_of(rest.get()), as_bytes(part));
    }
    const Bn p = bn_of(as_bytes(parts.p)), q = bn_of(as_bytes(parts.q));
    BN_mod_mul(rest.get(), q.get(), bn_of(as_bytes(parts.qinv)).get(), p.get(), context);
    EXPECT_TRUE(BN_is_one(rest.get()));
    BN_CTX_free(context);
  }
}

INSTANTIATE_TEST_SUITE_P(, PrimeDeviceTest, testing::ValuesIn(cases()), [](const auto &one) {
  std::string name = one.param.found.properties.id + "_" + one.param.form;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PrimeDeviceTest);

}  // namespace
}  // namespace lanecrypt::runtime
