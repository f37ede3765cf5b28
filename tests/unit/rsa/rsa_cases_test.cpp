// RSA on every device with extreme and random keys and messages. The results are compared with
// OpenSSL's, and GMP recovers each message from its result.
//
// LANECRYPT_TEST_RSA_CASES  the number of private operations for each key length. The default is
// 2,000
//                           on a GPU and a few on other devices.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <atomic>
#include <functional>
#include <thread>

#ifdef LANECRYPT_TEST_GMP
#include <gmp.h>
#endif

#include "unit/support/devices.h"
#include "unit/support/rsa_test_key.h"

namespace lanecrypt::test {
namespace {

// Primes of half the modulus length whose limbs, of 27 and of 52 bits, are all ones or all zeros.
// The first prime that suits 65537 is `offset` steps above `from`, a number with the pattern. GMP
// found the offsets. They are constants because the search for long primes takes seconds.
enum Pattern {
  kOnes,         // 2^h - 2^60: all limbs but the lowest
  kHighOnes,     // 2^h - 2^(h-200): the highest 200 bits
  kLowOnes,      // 2^(h-1) + 2^(h-2) + 2^(h-200) - 2^16
  kZeros,        // 2^(h-1) + 2^(h-2)
  kLowNegative,  // the same less 1/z mod 2^216, z of kZeros, in steps of 2^216:
                 // their product is -1 mod 2^216
  kPatterns
};
struct Length {
  int bits;
  unsigned offsets[kPatterns];
};
constexpr Length kLengths[] = {
    {1024, {841, 223, 389, 761, 479}},    {1026, {}},
    {1536, {109, 343, 25, 65, 47}},       {2048, {71, 241, 535, 1037, 459}},
    {3072, {1039, 23, 2177, 1837, 131}},  {4096, {211, 2191, 1165, 439, 2317}},
    {6144, {1829, 563, 1505, 1319, 348}}, {8192, {631, 301, 1735, 3389, 1537}}};

Bn prime_of(const Length &length, Pattern pattern) {
  const int half = length.bits / 2;
  const Bn step = power_of_two(pattern == kLowNegative ? 216 : 0);
  Bn from = power_of_two(half), part = bn();
  if (pattern == kOnes || pattern == kHighOnes) {
    BN_sub(from.get(), from.get(), power_of_two(pattern == kOnes ? 60 : half - 200).get());
  } else {
    BN_sub(from.get(), from.get(), power_of_two(half - 2).get());
  }
  if (pattern == kLowOnes) {
    BN_add(from.get(), from.get(), power_of_two(half - 200).get());
    BN_sub(from.get(), from.get(), power_of_two(16).get());
  }
  BN_CTX *context = BN_CTX_new();
  if (pattern == kLowNegative) {
    BN_mod_inverse(part.get(), prime_of(length, kZeros).get(), step.get(), context);
    BN_sub(part.get(), step.get(), part.get());
    BN_add(from.get(), from.get(), part.get());
  }
  Bn up = bn(BN_dup(step.get()));
  BN_mul_word(up.get(), length.offsets[pattern]);
  BN_add(from.get(), from.get(), up.get());
  BN_CTX_free(context);
  return from;
}

// Returns keys whose modulus has all ones in the highest limbs, keys whose modulus has all ones in
// the lowest limbs, and others.
std::vector<TestKey> make_keys(const Length &length) {
  std::vector<TestKey> keys;
  keys.push_back(TestKey::random(length.bits));
  if (length.offsets[0] == 0) return keys;
  Bn e = bn();
  BN_set_word(e.get(), 65537);
  for (const auto &[p, q] : {std::pair(kOnes, kHighOnes),
                             {kHighOnes, kOnes},
                             {kLowOnes, kZeros},
                             {kZeros, kOnes},
                             {kZeros, kLowNegative}})
    keys.emplace_back(prime_of(length, p).get(), prime_of(length, q).get(), e.get());
  return keys;
}

struct FreePkey {
  void operator()(EVP_PKEY *key) const { EVP_PKEY_free(key); }
};
using Pkey = std::unique_ptr<EVP_PKEY, FreePkey>;

Pkey openssl_key(const TestKey &key) {
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  std::vector<Bn> numbers;
  const auto add = [&](const char *name, const Bytes &bytes) {
    numbers.push_back(bn_of(bytes));
    OSSL_PARAM_BLD_push_BN(builder, name, numbers.back().get());
  };
  add(OSSL_PKEY_PARAM_RSA_N, key.n);
  add(OSSL_PKEY_PARAM_RSA_E, key.e);
  add(OSSL_PKEY_PARAM_RSA_D, bytes_of(key.secret.get()));
  add(OSSL_PKEY_PARAM_RSA_FACTOR1, key.p);
  add(OSSL_PKEY_PARAM_RSA_FACTOR2, key.q);
  add(OSSL_PKEY_PARAM_RSA_EXPONENT1, key.dp);
  add(OSSL_PKEY_PARAM_RSA_EXPONENT2, key.dq);
  add(OSSL_PKEY_PARAM_RSA_COEFFICIENT1, key.qinv);
  OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(builder);
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(nullptr, "RSA", "provider=default");
  EVP_PKEY *made = nullptr;
  EXPECT_EQ(1, EVP_PKEY_fromdata_init(context));
  EXPECT_EQ(1, EVP_PKEY_fromdata(context, &made, EVP_PKEY_KEYPAIR, params));
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(params);
  OSSL_PARAM_BLD_free(builder);
  return Pkey(made);
}

// Whether OpenSSL computes in^d mod n = out, without padding.
bool openssl_gives(EVP_PKEY *key, const Bytes &in, const Bytes &out) {
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(nullptr, key, "provider=default");
  Bytes result(in.size());
  size_t bytes = result.size();
  const bool done = EVP_PKEY_decrypt_init(context) == 1 &&
                    EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1 &&
                    EVP_PKEY_decrypt(context, result.data(), &bytes, in.data(), in.size()) == 1;
  EVP_PKEY_CTX_free(context);
  return done && bytes == result.size() && result == out;
}

#ifdef LANECRYPT_TEST_GMP
// Whether out < n and out^e mod n = in. If e has an inverse for the key, this is true of no other
// `out`.
bool gmp_goes_back(const TestKey &key, const Bytes &in, const Bytes &out) {
  mpz_t n, e, from, to;
  mpz_inits(n, e, from, to, nullptr);
  const auto read = [](mpz_t number, const Bytes &bytes) {
    mpz_import(number, bytes.size(), 1, 1, 1, 0, bytes.data());
  };
  read(n, key.n);
  read(e, key.e);
  read(from, out);
  read(to, in);
  bool right = mpz_cmp(from, n) < 0;
  mpz_powm(from, from, e, n);
  right = right && mpz_cmp(from, to) == 0;
  mpz_clears(n, e, from, to, nullptr);
  return right;
}
#else
bool gmp_goes_back(const TestKey &, const Bytes &, const Bytes &) { return true; }
#endif

// Runs work(n) for each n < count on all cores. Returns how many calls returned false.
size_t count_wrong(size_t count, const std::function<bool(size_t)> &work) {
  std::atomic<size_t> next{0}, wrong{0};
  std::vector<std::thread> threads;
  for (unsigned n = std::max(std::thread::hardware_concurrency(), 1u); n > 0; --n)
    threads.emplace_back([&] {
      for (size_t at = next++; at < count; at = next++) wrong += work(at) ? 0 : 1;
    });
  for (std::thread &thread : threads) thread.join();
  return wrong;
}

class RsaCasesTest : public testing::TestWithParam<RsaCase> {
 protected:
  void SetUp() override {
    if (GetParam().device.absent) GTEST_SKIP() << "needs a GPU";
    form_ = std::make_unique<ScopedEnvironment>("LANECRYPT_RSA_FORM", GetParam().form);
    context_ = std::make_unique<Context>(GetParam().device.id.c_str(), LC_FALLBACK_NONE);
  }
  bool is_gpu() const { return GetParam().device.is_gpu; }

  // Runs the inputs in one job, and returns its outputs. Input n is for key n % keys.size().
  std::vector<Bytes> run(const std::vector<TestKey> &keys, lc_rsa_operation operation,
                         const std::vector<Bytes> &inputs) {
    std::vector<lc_rsa_key *> made(keys.size());
    for (size_t k = 0; k < keys.size(); ++k) {
      const lc_rsa_parts parts = keys[k].parts();
      EXPECT_EQ(LC_OK, lc_rsa_key_new(&parts, &made[k])) << lc_last_error();
    }
    std::vector<Bytes> outputs(inputs.size(), Bytes(keys[0].n.size(), 0xa5));
    std::vector<lc_rsa_message> messages;
    for (size_t n = 0; n < inputs.size(); ++n)
      messages.push_back({made[n % keys.size()], inputs[n].data(), outputs[n].data()});
    const lc_rsa_job job = {sizeof job,      operation,          0, messages.data(),
                            messages.size(), sizeof messages[0], 1};
    lc_result result{};
    result.struct_size = sizeof result;
    EXPECT_EQ(LC_OK, lc_rsa_run(context_->get(), &job, &result)) << lc_last_error();
    EXPECT_EQ(inputs.size(), result.device_operations);
    EXPECT_EQ(0u, result.failed_checks);
    for (lc_rsa_key *key : made) lc_rsa_key_free(key);
    return outputs;
  }

  std::unique_ptr<ScopedEnvironment> form_;
  std::unique_ptr<Context> context_;
};

TEST_P(RsaCasesTest, AsOpensslAndGmpHaveThem) {
  const char *wanted = std::getenv("LANECRYPT_TEST_RSA_CASES");
  for (const Length &length : kLengths) {
    // The longest keys take the emulator minutes.
    if (!is_gpu() && wanted == nullptr && (length.bits > 2048 || length.bits == 1536)) continue;
    SCOPED_TRACE(length.bits);
    const std::vector<TestKey> keys = make_keys(length);
    const size_t few = length.bits == 1024 ? 48 : 12;
    const size_t cases = wanted != nullptr ? std::stoul(wanted) : scaled(is_gpu() ? 2000 : few);
    // Each key gets its extreme messages first, as many as fit.
    std::vector<std::vector<Bytes>> of_keys;
    const size_t each = (cases + keys.size() - 1) / keys.size();
    for (const TestKey &key : keys)
      of_keys.push_back(extreme_inputs(key, each > kEdges ? each - kEdges : 0));
    std::vector<Bytes> inputs;
    for (size_t n = 0; n < cases; ++n)
      inputs.push_back(std::move(of_keys[n % keys.size()][n / keys.size()]));

    const std::vector<Bytes> outputs = run(keys, LC_RSA_PRIVATE, inputs);
    EXPECT_EQ(0u, count_wrong(cases, [&](size_t n) {
                return gmp_goes_back(keys[n % keys.size()], inputs[n], outputs[n]);
              }));
    // The longest keys take OpenSSL long, so it checks only a few of them.
    const size_t step = length.bits > 4096 && cases > 1000 ? 40 : 1;
    std::vector<Pkey> pkeys;
    for (const TestKey &key : keys) pkeys.push_back(openssl_key(key));
    EXPECT_EQ(0u, count_wrong((cases + step - 1) / step, [&](size_t n) {
                const size_t at = std::min(n * step + n % step, cases - 1);
                return openssl_gives(pkeys[at % keys.size()].get(), inputs[at], outputs[at]);
              }));
    // The device must also recover the messages.
    const std::vector<Bytes> back = run(keys, LC_RSA_PUBLIC, outputs);
    EXPECT_TRUE(back == inputs);
  }
}

#ifndef LANECRYPT_TEST_GMP
TEST(RsaCases, Gmp) { GTEST_SKIP() << "needs GMP (package libgmp-dev)"; }
#endif

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RsaCasesTest);
INSTANTIATE_TEST_SUITE_P(, RsaCasesTest, testing::ValuesIn(rsa_cases()), rsa_case_name);

}  // namespace
}  // namespace lanecrypt::test
