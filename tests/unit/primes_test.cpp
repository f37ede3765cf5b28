// The search for primes from within: what is drawn, what the sieve leaves, what
// the kernels and the CPU say of numbers that are known, and what becomes of keys
// whose primes are none.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/bn.h>
#include <stdlib.h>

#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "cpu/cpu_rsa.h"
#include "cpu/prime_key.h"
#include "schedule/rsa_generator.h"
#include "schedule/rsa_launch.h"

namespace lanecrypt::schedule {
namespace {

using Bytes = std::vector<uint8_t>;
using Bn = std::unique_ptr<BIGNUM, decltype(&BN_free)>;

Bn bn(BIGNUM *number = nullptr) { return {number == nullptr ? BN_new() : number, &BN_free}; }
Bn bn_of(std::span<const uint8_t> bytes) {
  return bn(BN_bin2bn(bytes.data(), int(bytes.size()), nullptr));
}
Bytes bytes_of(const BIGNUM *number, size_t size) {
  Bytes bytes(size);
  EXPECT_EQ(int(size), BN_bn2binpad(number, bytes.data(), int(size)));
  return bytes;
}
// 2^bits + add.
Bn power_of_two(int bits, int add = 0) {
  Bn number = bn();
  BN_one(number.get());
  BN_lshift(number.get(), number.get(), bits);
  add < 0 ? BN_sub_word(number.get(), static_cast<BN_ULONG>(-add))
          : BN_add_word(number.get(), static_cast<BN_ULONG>(add));
  return number;
}
bool is_prime(const BIGNUM *number) {
  BN_CTX *context = BN_CTX_new();
  const bool is = BN_check_prime(number, context, nullptr) == 1;
  BN_CTX_free(context);
  return is;
}

const uint8_t kF4[] = {1, 0, 1};
// 3 * 5 * 7 * 65537.
const uint8_t kComposite[] = {0x69, 0x00, 0x69};

TEST(PrimeCandidates, AreOddAndLargeAndDiffer) {
  for (const uint32_t bits : {512u, 515u, 568u, 1024u, 1537u}) {
    const uint32_t stride = cpu::prime_stride_bytes(bits);
    Bytes numbers(100 * stride, 0xff);
    ASSERT_TRUE(cpu::draw_candidates(cpu::random_bytes, bits, numbers).ok());
    // Their squares have all their bits.
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
    // Each by chance once in a million runs.
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
  // e itself, a prime too long to be among the small ones, and its factors.
  const cpu::SieveTable of_f4 = cpu::make_sieve_table(64, kF4),
                        of_composite = cpu::make_sieve_table(64, kComposite);
  EXPECT_EQ(65537u, of_f4.primes.back().prime);
  EXPECT_EQ(1u, of_f4.primes.back().of_exponent);
  EXPECT_EQ(0u, of_f4.primes[0].of_exponent);
  for (int n = 0; n < 3; ++n) EXPECT_EQ(1u, of_composite.primes[n].of_exponent);
  EXPECT_EQ(0u, of_composite.primes[3].of_exponent);
}

// Every odd number below 2000 with every base, by arithmetic of 64 bits.
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

// ---- Keys of primes that are none ------------------------------------------

// A device that calls every candidate a prime.
class Liar : public PrimeTester {
 public:
  bool takes(uint32_t) const override { return true; }
  size_t most_trials(uint32_t) const override { return 16; }
  Status reserve(uint32_t bits, size_t candidates, size_t trials) override {
    candidates_.resize(std::max(candidates_.size(), candidates * cpu::prime_stride_bytes(bits)));
    bases_.resize(std::max(bases_.size(), trials * cpu::prime_stride_bytes(bits)));
    return Status();
  }
  std::span<uint8_t> candidates() override { return candidates_; }
  std::span<uint8_t> bases() override { return bases_; }
  Status sieve(const std::shared_ptr<const cpu::SieveTable> &, size_t,
               std::span<uint8_t> survives) override {
    std::fill(survives.begin(), survives.end(), uint8_t{1});
    return Status();
  }
  Status test(uint32_t, std::span<const uint32_t>, std::span<uint8_t> passed) override {
    std::fill(passed.begin(), passed.end(), uint8_t{1});
    return Status();
  }
  void forget() override {}

 private:
  Bytes candidates_, bases_;
};

struct Taken {
  std::vector<Bytes> primes;
  static int key(void *argument, uint64_t number, const lc_rsa_parts *parts) {
    Taken &taken = *static_cast<Taken *>(argument);
    EXPECT_EQ(taken.primes.size() / 2, number);
    for (const lc_number &prime : {parts->p, parts->q}) {
      const auto *bytes = static_cast<const uint8_t *>(prime.bytes);
      taken.primes.emplace_back(bytes, bytes + prime.length);
    }
    return 1;
  }
};

RsaGeneration two_keys(Taken *taken, uint32_t device) {
  RsaGeneration what;
  what.bits = 1024;
  what.exponent.assign(kF4, kF4 + sizeof kF4);
  what.count = 2;
  what.device = device;
  what.on_key = Taken::key;
  what.argument = taken;
  return what;
}

TEST(RsaGenerator, ADeviceThatErrsGivesNoKey) {
  for (const lc_fallback fallback : {LC_FALLBACK_CPU, LC_FALLBACK_NONE}) {
    Counters of_cpu, of_device;
    RsaGenerator generator(of_cpu, fallback, [](const device::Found &) {
      return Result<std::unique_ptr<PrimeTester>>(std::make_unique<Liar>());
    });
    generator.add_device({}, of_device, true);
    Taken taken;
    lc_result result = {};
    const Status status = generator.run(two_keys(&taken, 0), &result);
    EXPECT_GT(result.failed_checks, 0u);
    EXPECT_EQ(1u, of_device.failures);
    if (fallback == LC_FALLBACK_NONE) {
      EXPECT_EQ(LC_ERROR_DEVICE, status.code());
      EXPECT_TRUE(taken.primes.empty());
      continue;
    }
    ASSERT_TRUE(status.ok()) << status.text();
    EXPECT_GT(result.cpu_operations, 0u);
    ASSERT_EQ(4u, taken.primes.size());
    for (const Bytes &prime : taken.primes) EXPECT_TRUE(is_prime(bn_of(prime).get()));
    EXPECT_FALSE(generator.is_open());
  }
}

// Primes are found ahead, used once, and never more than there may be.
TEST(RsaGenerator, APoolIsFilledAndUsed) {
  setenv("LANECRYPT_PRIME_POOL", "5", 1);
  Counters of_cpu, of_device;
  RsaGenerator generator(of_cpu, LC_FALLBACK_NONE, [](const device::Found &) {
    return Result<std::unique_ptr<PrimeTester>>(make_cpu_primes(1));
  });
  unsetenv("LANECRYPT_PRIME_POOL");
  generator.add_device({}, of_device, true);
  const auto await_full = [&] {
    const auto start = std::chrono::steady_clock::now();
    while (generator.pool().room() != 0 &&
           std::chrono::steady_clock::now() - start < std::chrono::seconds(30))
      std::this_thread::yield();
    ASSERT_EQ(0u, generator.pool().room());
  };
  std::set<Bytes> primes;
  for (int n = 0; n < 3; ++n) {
    Taken taken;
    lc_result result = {};
    ASSERT_EQ(n == 0 ? 5u : 0u, generator.pool().room());
    ASSERT_TRUE(generator.run(two_keys(&taken, 0), &result).ok());
    for (const Bytes &prime : taken.primes) {
      EXPECT_TRUE(is_prime(bn_of(prime).get()));
      EXPECT_TRUE(primes.insert(prime).second) << "a prime used twice";
    }
    EXPECT_EQ(n == 0, result.device_operations > 0) << "all four were there";
    await_full();
  }
  EXPECT_EQ(12u, primes.size());
  // Of another exponent, or with random bits of the caller's own, none of them.
  for (const bool other_exponent : {true, false}) {
    Taken taken;
    lc_result result = {};
    RsaGeneration what = two_keys(&taken, 0);
    if (other_exponent)
      what.exponent.assign(kComposite, kComposite + sizeof kComposite);
    else
      what.random = [](void *, void *to, size_t bytes) {
        return cpu::random_bytes(to, bytes).ok() ? 1 : 0;
      };
    ASSERT_TRUE(generator.run(std::move(what), &result).ok());
    EXPECT_GT(result.device_operations, 0u);
  }
  generator.stop();
}

TEST(PrimePool, GivesEachOnce) {
  PrimePool pool(2);
  const PrimePool::Kind kind = {512, nullptr}, other = {514, nullptr};
  EXPECT_FALSE(pool.take(kind));
  EXPECT_TRUE(pool.put(kind, secure::KeyMemory(64)));
  EXPECT_TRUE(pool.put(other, secure::KeyMemory(72)));
  EXPECT_FALSE(pool.put(kind, secure::KeyMemory(64)));
  EXPECT_EQ(0u, pool.room());
  EXPECT_TRUE(pool.take(other).has_value());
  EXPECT_FALSE(pool.take(other).has_value());
  EXPECT_EQ(1u, pool.room());
  EXPECT_FALSE(PrimePool(0).is_on());
  EXPECT_FALSE(PrimePool(0).put(kind, secure::KeyMemory(64)));
}

// The CPU begins, and the device goes on where it is open.
TEST(RsaGenerator, TheCpuWorksUntilTheDeviceIsOpen) {
  Counters of_cpu, of_device;
  std::atomic<bool> may_open{false};
  RsaGenerator generator(of_cpu, LC_FALLBACK_CPU, [&](const device::Found &) {
    while (!may_open) std::this_thread::yield();
    return Result<std::unique_ptr<PrimeTester>>(make_cpu_primes(1));
  });
  generator.add_device({}, of_device, true);
  Taken taken;
  lc_result result = {};
  ASSERT_TRUE(generator.run(two_keys(&taken, LC_ANY_DEVICE), &result).ok());
  EXPECT_EQ(0u, result.device_operations);
  EXPECT_GT(result.cpu_operations, 0u);
  may_open = true;
  while (!generator.is_open()) std::this_thread::yield();
  result = {};
  taken.primes.clear();
  ASSERT_TRUE(generator.run(two_keys(&taken, LC_ANY_DEVICE), &result).ok());
  EXPECT_GT(result.device_operations, 0u);
  EXPECT_EQ(0u, result.cpu_operations);
}

}  // namespace
}  // namespace lanecrypt::schedule
