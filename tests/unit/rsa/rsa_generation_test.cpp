// RSA key generation through the public C ABI, on every device and the CPU: the bounds of FIPS
// 186-5, OpenSSL's own check, what is refused, and faults.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rand.h>

#include <atomic>
#include <set>

#include "unit/support/devices.h"
#include "unit/support/long_numbers.h"

namespace lanecrypt::test {
namespace {

Bn bn_of(const lc_number &number) {
  return test::bn_of({static_cast<const uint8_t *>(number.bytes), number.length});
}

// Whether OpenSSL accepts the key. It tests every prime again.
bool openssl_agrees(const lc_rsa_parts &parts) {
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  std::vector<Bn> numbers;
  for (const auto &[name, number] : {std::pair(OSSL_PKEY_PARAM_RSA_N, parts.n),
                                     {OSSL_PKEY_PARAM_RSA_E, parts.e},
                                     {OSSL_PKEY_PARAM_RSA_D, parts.d},
                                     {OSSL_PKEY_PARAM_RSA_FACTOR1, parts.p},
                                     {OSSL_PKEY_PARAM_RSA_FACTOR2, parts.q},
                                     {OSSL_PKEY_PARAM_RSA_EXPONENT1, parts.dp},
                                     {OSSL_PKEY_PARAM_RSA_EXPONENT2, parts.dq},
                                     {OSSL_PKEY_PARAM_RSA_COEFFICIENT1, parts.qinv}}) {
    numbers.push_back(bn_of(number));
    OSSL_PARAM_BLD_push_BN(builder, name, numbers.back().get());
  }
  OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(builder);
  OSSL_PARAM_BLD_free(builder);
  EVP_PKEY *key = nullptr;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(nullptr, "RSA", "provider=default");
  bool agrees = EVP_PKEY_fromdata_init(context) == 1 &&
                EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, params) == 1;
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(params);
  if (agrees) {
    context = EVP_PKEY_CTX_new_from_pkey(nullptr, key, "provider=default");
    agrees = EVP_PKEY_check(context) == 1;
    EVP_PKEY_CTX_free(context);
  }
  EVP_PKEY_free(key);
  return agrees;
}

// Checks the bounds of FIPS 186-5, A.1.1 and A.1.3.
void expect_bounds(const lc_rsa_parts &parts, int bits) {
  BN_CTX *context = BN_CTX_new();
  const Bn n = bn_of(parts.n), e = bn_of(parts.e), d = bn_of(parts.d), p = bn_of(parts.p),
           q = bn_of(parts.q);
  Bn least = bn(), square = bn(), less = bn(), common = bn(), p_less = bn(BN_dup(p.get())),
     q_less = bn(BN_dup(q.get())), multiple = bn();
  EXPECT_EQ(bits, BN_num_bits(n.get()));
  // p >= sqrt(2) 2^(bits/2-1): its square is at least 2^(bits-1).
  BN_set_bit(least.get(), bits - 1);
  for (const BIGNUM *prime : {p.get(), q.get()}) {
    EXPECT_EQ(bits / 2, BN_num_bits(prime));
    BN_sqr(square.get(), prime, context);
    EXPECT_GE(BN_cmp(square.get(), least.get()), 0);
    EXPECT_TRUE(is_prime(prime));
    BN_sub(less.get(), prime, BN_value_one());
    BN_gcd(common.get(), less.get(), e.get(), context);
    EXPECT_TRUE(BN_is_one(common.get()));
  }
  EXPECT_GT(BN_cmp(p.get(), q.get()), 0);
  BN_sub(less.get(), p.get(), q.get());
  EXPECT_GT(BN_num_bits(less.get()), bits / 2 - 100);
  EXPECT_GT(BN_num_bits(d.get()), bits / 2);
  // d < lcm(p-1, q-1), and d e = 1 modulo it.
  BN_sub_word(p_less.get(), 1);
  BN_sub_word(q_less.get(), 1);
  BN_gcd(common.get(), p_less.get(), q_less.get(), context);
  BN_mul(multiple.get(), p_less.get(), q_less.get(), context);
  BN_div(multiple.get(), nullptr, multiple.get(), common.get(), context);
  EXPECT_LT(BN_cmp(d.get(), multiple.get()), 0);
  BN_mod_mul(square.get(), d.get(), e.get(), multiple.get(), context);
  EXPECT_TRUE(BN_is_one(square.get()));
  BN_CTX_free(context);
}

// 65537. It is not an initializer list: gcc 12 warns that that may be used uninitialized.
constexpr uint8_t kExponent[] = {1, 0, 1};

struct Keys {
  int bits = 1024;
  Bytes exponent{std::begin(kExponent), std::end(kExponent)};
  std::set<Bytes> primes;
  uint64_t count = 0, calls = 0, enough = UINT64_MAX, enough_calls = UINT64_MAX;
  lc_rsa_progress last{};
  std::atomic<uint64_t> random_bytes{0}, most_random_bytes{UINT64_MAX};

  lc_rsa_generation generation(uint64_t wanted, uint32_t device) {
    lc_rsa_generation generation{};
    generation.struct_size = sizeof generation;
    generation.bits = uint32_t(bits);
    generation.exponent = {exponent.data(), exponent.size()};
    generation.count = wanted;
    generation.device = device;
    generation.has_device = 1;
    generation.on_key = [](void *argument, uint64_t number, const lc_rsa_parts *parts) {
      return static_cast<Keys *>(argument)->take(number, *parts);
    };
    generation.on_progress = [](void *argument, const lc_rsa_progress *progress) {
      return static_cast<Keys *>(argument)->hear(*progress);
    };
    generation.argument = this;
    return generation;
  }
  // The test's random generator.
  static int random(void *argument, void *to, size_t bytes) {
    Keys &keys = *static_cast<Keys *>(argument);
    if ((keys.random_bytes += bytes) > keys.most_random_bytes) return 0;
    return RAND_priv_bytes_ex(nullptr, static_cast<unsigned char *>(to), bytes, 0);
  }

 private:
  int take(uint64_t number, const lc_rsa_parts &parts) {
    EXPECT_EQ(count, number);
    ++count;
    EXPECT_EQ(exponent, Bytes(static_cast<const uint8_t *>(parts.e.bytes),
                              static_cast<const uint8_t *>(parts.e.bytes) + parts.e.length));
    expect_bounds(parts, bits);
    EXPECT_TRUE(openssl_agrees(parts));
    for (const lc_number &prime : {parts.p, parts.q}) {
      const auto *bytes = static_cast<const uint8_t *>(prime.bytes);
      EXPECT_TRUE(primes.emplace(bytes, bytes + prime.length).second) << "a prime used twice";
    }
    return count < enough ? 1 : 0;
  }
  int hear(const lc_rsa_progress &progress) {
    EXPECT_EQ(sizeof progress, progress.struct_size);
    EXPECT_GE(progress.candidates, last.candidates);
    EXPECT_GE(progress.tests, last.tests);
    EXPECT_GE(progress.primes, last.primes);
    EXPECT_GE(progress.keys, last.keys);
    last = progress;
    return ++calls < enough_calls ? 1 : 0;
  }
};

lc_result generate(lc_context *context, const lc_rsa_generation &generation, lc_status expected) {
  lc_result result{};
  result.struct_size = sizeof result;
  EXPECT_EQ(expected, lc_rsa_generate(context, &generation, &result)) << lc_last_error();
  return result;
}

TEST(RsaGeneration, WrongJobsAreRefused) {
  Context context("none", LC_FALLBACK_CPU);
  Keys keys;
  const lc_rsa_generation good = keys.generation(1, LC_ANY_DEVICE);
  lc_rsa_generation wrong = good;
  const auto refused = [&](const char *what) {
    EXPECT_EQ(LC_ERROR_ARGUMENT, lc_rsa_generate(context.get(), &wrong, nullptr)) << what;
    EXPECT_STRNE("", lc_last_error()) << what;
    wrong = good;
  };
  wrong.struct_size = 8;
  refused("struct_size");
  for (const uint32_t bits : {0u, 512u, 1022u, 1025u, 16386u}) {
    wrong.bits = bits;
    refused("bits");
  }
  const Bytes exponents[] = {{3}, {0xff, 0xff}, {1, 0, 0}, Bytes(33, 0xff)};
  for (const Bytes &e : exponents) {
    wrong.exponent = {e.data(), e.size()};
    refused("exponent");
  }
  wrong.exponent = {nullptr, 3};
  refused("exponent without bytes");
  wrong.on_key = nullptr;
  refused("on_key");
  wrong.device = 1000;
  refused("device");
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_rsa_generate(context.get(), nullptr, nullptr));
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_rsa_generate(nullptr, &good, nullptr));
  wrong.count = 0;
  LANECRYPT_ASSERT_OK(lc_rsa_generate(context.get(), &wrong, nullptr));
  EXPECT_EQ(0u, keys.count);
  EXPECT_EQ(0, lc_rsa_generation_prefers_device(context.get(), 8192)) << "there is no device";
  Context of_lone_threads("host:0", LC_FALLBACK_CPU);
  EXPECT_EQ(0, lc_rsa_generation_prefers_device(of_lone_threads.get(), 8192))
      << "a thread has it alone";
  const ScopedEnvironment subgroups("LANECRYPT_HOST_SUBGROUPS", "1");
  Context with_device("host:0", LC_FALLBACK_CPU);
  EXPECT_EQ(1, lc_rsa_generation_prefers_device(with_device.get(), 4096))
      << "long enough to open one";
  EXPECT_EQ(0, lc_rsa_generation_prefers_device(with_device.get(), 3072)) << "the first short one";
  Context no_cpu("none", LC_FALLBACK_NONE);
  generate(no_cpu.get(), good, LC_ERROR_NO_DEVICE);
}

TEST(RsaGeneration, OnTheCpu) {
  Context context("none", LC_FALLBACK_CPU);
  for (const auto &[bits, exponent] :
       {std::pair(1024, Bytes{1, 0, 1}), {1030, Bytes{0x69, 0, 0x69}}, {1032, Bytes(32, 0xff)}}) {
    Keys keys;
    keys.bits = bits;
    keys.exponent = exponent;
    const lc_result result = generate(context.get(), keys.generation(2, LC_ANY_DEVICE), LC_OK);
    EXPECT_EQ(2u, keys.count);
    EXPECT_EQ(0u, result.device_operations);
    EXPECT_GT(result.cpu_operations, 20u);
    EXPECT_EQ(result.cpu_operations, keys.last.tests);
    EXPECT_EQ(0u, result.failed_checks);
    EXPECT_GE(keys.last.primes, 4u);
  }
  EXPECT_GT(context.counters(LC_CPU).operations, 60u);
}

TEST(RsaGeneration, CallersStopIt) {
  Context context("none", LC_FALLBACK_CPU);
  Keys by_key;
  by_key.enough = 2;
  generate(context.get(), by_key.generation(50, LC_CPU), LC_ERROR_STOPPED);
  EXPECT_EQ(2u, by_key.count);
  Keys by_progress;
  by_progress.enough_calls = 1;
  generate(context.get(), by_progress.generation(50, LC_CPU), LC_ERROR_STOPPED);
  EXPECT_EQ(1u, by_progress.calls);
}

TEST(RsaGeneration, RandomBytesAreTheCallers) {
  Context context("none", LC_FALLBACK_CPU);
  Keys keys;
  lc_rsa_generation generation = keys.generation(1, LC_CPU);
  generation.random = Keys::random;
  generate(context.get(), generation, LC_OK);
  // On average a prime takes 177 candidates of 64 bytes.
  EXPECT_GT(keys.random_bytes, 1000u);
  keys.most_random_bytes = keys.random_bytes + 20000;
  generation.count = 1000;
  const uint64_t before = keys.count;
  keys.count = 0;
  generate(context.get(), generation, LC_ERROR_INTERNAL);
  EXPECT_STREQ("the caller's random generator failed", lc_last_error());
  EXPECT_LT(keys.count, 1000u);
  EXPECT_EQ(1u, before);
}

class RsaGenerationTest : public testing::TestWithParam<RsaCase> {
 protected:
  void SetUp() override {
    if (GetParam().device.absent) GTEST_SKIP() << "needs a GPU";
    form_ = std::make_unique<ScopedEnvironment>("LANECRYPT_RSA_FORM", GetParam().form);
  }
  bool is_gpu() const { return GetParam().device.is_gpu; }
  std::unique_ptr<ScopedEnvironment> form_;
};

TEST_P(RsaGenerationTest, KeysAreRight) {
  Context context(GetParam().device.id.c_str(), LC_FALLBACK_NONE);
  struct Wanted {
    int bits;
    Bytes exponent;
    uint64_t count;
  };
  std::vector<Wanted> all = {{1024, {1, 0, 1}, 3}, {1026, {0x69, 0, 0x69}, 1}};
  // Through OpenCL a GPU uses one thread for each number, and takes minutes for the longest keys.
  const bool has_subgroups = GetParam().device.id.starts_with("cuda");
  for (const int bits : {2048, 3072, 4096, 6144, 8192})
    if (has_subgroups || (is_gpu() && bits <= 3072)) all.push_back({bits, {1, 0, 1}, 4});
  uint64_t tests = 0;
  for (const Wanted &wanted : all) {
    Keys keys;
    keys.bits = wanted.bits;
    keys.exponent = wanted.exponent;
    const lc_result result = generate(context.get(), keys.generation(wanted.count, 0), LC_OK);
    EXPECT_EQ(wanted.count, keys.count);
    EXPECT_EQ(0u, result.cpu_operations);
    // Two primes for each key, and four rounds or more for each prime.
    EXPECT_GE(result.device_operations, 2 * 4 * wanted.count);
    tests += result.device_operations;
  }
  EXPECT_EQ(tests, context.counters(0).operations);
  EXPECT_GT(context.counters(0).launches, 2u);
  EXPECT_EQ(0u, context.counters(0).failures);
}

TEST_P(RsaGenerationTest, ThreadsShareTheDevice) {
  Context context(GetParam().device.id.c_str(), LC_FALLBACK_NONE);
  std::vector<Keys> keys(4);
  std::vector<std::thread> threads;
  for (Keys &one : keys)
    threads.emplace_back([&] { generate(context.get(), one.generation(1, LC_ANY_DEVICE), LC_OK); });
  for (std::thread &thread : threads) thread.join();
  std::set<Bytes> primes;
  for (const Keys &one : keys) primes.insert(one.primes.begin(), one.primes.end());
  EXPECT_EQ(8u, primes.size());
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RsaGenerationTest);
INSTANTIATE_TEST_SUITE_P(, RsaGenerationTest, testing::ValuesIn(rsa_cases()), rsa_case_name);

// The emulator fails in the middle of a generation.
TEST(RsaGenerationFaults, ALostDeviceIsReplaced) {
  // With many cores a few keys take only a few kernels.
  constexpr std::pair<const char *, uint64_t> kFaults[] = {
      {"lost-after:0", 6}, {"lost-after:1", 6}, {"lost-after:7", 50}};
  for (const auto &[after, count] : kFaults) {
    const ScopedEnvironment fault("LANECRYPT_HOST_FAULT", after);
    Context context("host:0", LC_FALLBACK_CPU);
    Keys keys;
    const lc_result result = generate(context.get(), keys.generation(count, 0), LC_OK);
    EXPECT_EQ(count, keys.count);
    EXPECT_GT(result.cpu_operations, 0u) << after;
    EXPECT_EQ(1u, context.counters(0).failures);
    Context no_cpu("host:0", LC_FALLBACK_NONE);
    Keys none;
    generate(no_cpu.get(), none.generation(50, 0), LC_ERROR_DEVICE);
  }
}

TEST(RsaGenerationFaults, WrongBytesGiveRightKeys) {
  // The fault comes after the self-test, which would detect it.
  const ScopedEnvironment fault("LANECRYPT_HOST_FAULT", "wrong-byte:40");
  Context context("host:0", LC_FALLBACK_CPU);
  Keys keys;
  generate(context.get(), keys.generation(4, 0), LC_OK);
  EXPECT_EQ(4u, keys.count);
}

}  // namespace
}  // namespace lanecrypt::test
