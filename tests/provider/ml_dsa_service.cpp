// Signatures of ML-DSA by a service of the tests' own, which signs by the default provider with
// the key that it was given. Only from OpenSSL 3.5 on.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "provider/rsa/rsa_twins.h"
#include "provider/system_log.h"
#include "service/client/fake_service.h"

namespace provider_test {
namespace {

using service_test::FakeService;
using Page = lanecrypt::service::StatusPage;
namespace wire = lanecrypt::service;

struct FreeHash {
  void operator()(EVP_MD_CTX *context) const { O(EVP_MD_CTX_free)(context); }
};
using Hash = std::unique_ptr<EVP_MD_CTX, FreeHash>;

// By OpenSSL, in the NULL library context, where no provider of ours is.
Bytes sign_mu(uint32_t set, std::span<const uint8_t> input, const Bytes &secret) {
  const std::string name = "ML-DSA-" + std::to_string(set);
  const PkeyContext makes(O(EVP_PKEY_CTX_new_from_name)(nullptr, name.c_str(), nullptr));
  auto *const bytes = const_cast<uint8_t *>(secret.data());
  OSSL_PARAM key_params[] = {
      {OSSL_PKEY_PARAM_PRIV_KEY, OSSL_PARAM_OCTET_STRING, bytes, secret.size(), 0}, OSSL_PARAM_END};
  EVP_PKEY *made = nullptr;
  if (O(EVP_PKEY_fromdata_init)(makes.get()) != 1 ||
      O(EVP_PKEY_fromdata)(makes.get(), &made, EVP_PKEY_KEYPAIR, key_params) != 1)
    return {};
  const Pkey key(made);
  int is_mu = 1;
  auto *const random = const_cast<uint8_t *>(input.data()) + wire::kMlDsaMuBytes;
  const OSSL_PARAM params[] = {
      {"mu", OSSL_PARAM_INTEGER, &is_mu, sizeof is_mu, 0},
      {"test-entropy", OSSL_PARAM_OCTET_STRING, random, wire::kMlDsaRandomBytes, 0},
      OSSL_PARAM_END};
  const Hash context(O(EVP_MD_CTX_new)());
  Bytes signature(wire::find_ml_dsa_set(set)->signature_bytes);
  size_t length = signature.size();
  const bool done = O(EVP_DigestSignInit_ex)(context.get(), nullptr, nullptr, nullptr, nullptr,
                                             key.get(), params) == 1 &&
                    O(EVP_DigestSign)(context.get(), signature.data(), &length, input.data(),
                                      wire::kMlDsaMuBytes) == 1;
  return done ? signature : Bytes();
}

class MlDsaByService : public testing::Test {
 protected:
  void SetUp() override {
    const Pkey any(O(EVP_PKEY_Q_keygen)(nullptr, nullptr, "ML-DSA-65"));
    take_errors();
    if (any == nullptr) GTEST_SKIP() << "this OpenSSL has no ML-DSA";
    fake.sign = sign_mu;
    (void)take_system_log();
  }
  void load(Settings settings, const char *name = "ML-DSA-65") {
    settings.insert(settings.begin(), {{"in_process", "no"}, {"service", fake.path()}});
    key.reset();
    library = std::make_unique<Library>(settings);
    ASSERT_TRUE(library->is_ready()) << library->errors();
    key.reset(O(EVP_PKEY_Q_keygen)(library->get(), "provider=gpu", name));
    ASSERT_NE(nullptr, key) << take_error_texts();
  }
  uint64_t count(const char *name) {
    std::string full = "lanecrypt.ml-dsa-";
    full += name;
    return library->counter(full.c_str());
  }
  // Empty if it failed, with the errors in `errors`.
  Bytes sign(const Bytes &message) {
    const Hash context(O(EVP_MD_CTX_new)());
    size_t bytes = 4627;
    Bytes signature(bytes);
    const bool done = O(EVP_DigestSignInit_ex)(context.get(), nullptr, nullptr, library->get(),
                                               "provider=gpu", key.get(), nullptr) == 1 &&
                      O(EVP_DigestSign)(context.get(), signature.data(), &bytes, message.data(),
                                        message.size()) == 1;
    errors = take_error_texts();
    signature.resize(done ? bytes : 0);
    return signature;
  }
  bool is_right(const Bytes &signature, const Bytes &message) {
    const Hash context(O(EVP_MD_CTX_new)());
    const bool right = O(EVP_DigestVerifyInit_ex)(context.get(), nullptr, nullptr, library->get(),
                                                  "provider=default", key.get(), nullptr) == 1 &&
                       O(EVP_DigestVerify)(context.get(), signature.data(), signature.size(),
                                           message.data(), message.size()) == 1;
    take_errors();
    return right;
  }
  bool signs_rightly(int seed = 1) {
    const Bytes message(100, uint8_t(seed));
    return is_right(sign(message), message);
  }

  FakeService fake;
  std::unique_ptr<Library> library;
  Pkey key;
  std::string errors;
};

TEST_F(MlDsaByService, SignsWithEachSet) {
  for (const char *name : {"ML-DSA-44", "ML-DSA-65", "ML-DSA-87"}) {
    load({{"ml_dsa", "always"}}, name);
    const int keys = fake.with_key;
    for (int n = 0; n < 5; ++n) EXPECT_TRUE(signs_rightly(n)) << name << errors;
    EXPECT_EQ(5u, count("service-jobs"));
    EXPECT_EQ(5u, count("device-jobs"));
    EXPECT_EQ(0u, count("cpu-jobs"));
    EXPECT_EQ(0u, count("failures"));
    EXPECT_EQ(keys + 1, fake.with_key);
  }
}

// The program's generator gives what hedges a signature, and each signature is another.
TEST_F(MlDsaByService, HedgesEachSignature) {
  std::vector<Bytes> inputs;
  fake.sign = [&](uint32_t set, std::span<const uint8_t> input, const Bytes &secret) {
    inputs.emplace_back(input.begin(), input.end());
    return sign_mu(set, input, secret);
  };
  load({{"ml_dsa", "always"}});
  EXPECT_TRUE(signs_rightly(1));
  EXPECT_TRUE(signs_rightly(1));
  ASSERT_EQ(2u, inputs.size());
  const auto rnd = [&](size_t n) {
    return Bytes(inputs[n].begin() + wire::kMlDsaMuBytes, inputs[n].end());
  };
  EXPECT_TRUE(
      std::equal(inputs[0].begin(), inputs[0].begin() + wire::kMlDsaMuBytes, inputs[1].begin()));
  EXPECT_NE(rnd(0), rnd(1));
  EXPECT_NE(Bytes(wire::kMlDsaRandomBytes), rnd(0));
}

TEST_F(MlDsaByService, TheCpuDoesWhatIsRefused) {
  load({{"ml_dsa", "always"}});
  fake.answer = FakeService::Answer::kOutcome;
  for (const wire::Outcome outcome :
       {wire::Outcome::kBusy, wire::Outcome::kNoDevice, wire::Outcome::kBadInput}) {
    fake.outcome = outcome;
    EXPECT_TRUE(signs_rightly());
  }
  EXPECT_EQ(0u, count("failures"));
  fake.outcome = wire::Outcome::kFailed;
  EXPECT_TRUE(signs_rightly());
  EXPECT_EQ(1u, count("failures"));
  EXPECT_EQ(4u, count("cpu-jobs"));
  // A key that the service does not take is not sent again.
  fake.outcome = wire::Outcome::kBadKey;
  EXPECT_TRUE(signs_rightly());
  const int requests = fake.requests;
  EXPECT_TRUE(signs_rightly());
  EXPECT_EQ(requests, fake.requests);
  EXPECT_EQ(0u, count("service-jobs"));
  EXPECT_TRUE(take_system_log().empty());
}

TEST_F(MlDsaByService, ALossIsToldOnce) {
  load({{"ml_dsa", "always"}});
  EXPECT_TRUE(signs_rightly());
  fake.stop();
  for (int n = 0; n < 10; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_EQ(1u, take_system_log().size());
  EXPECT_EQ(1u, count("failures"));
  EXPECT_EQ(10u, count("cpu-jobs"));
  // It comes back.
  fake.start();
  for (int n = 0; n < 500 && count("service-jobs") < 2; ++n) {
    EXPECT_TRUE(signs_rightly(n));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(2u, count("service-jobs"));
}

TEST_F(MlDsaByService, WrongSignaturesAreFoundIfAllAreChecked) {
  fake.sign = [](uint32_t set, std::span<const uint8_t> input, const Bytes &secret) {
    Bytes signature = sign_mu(set, input, secret);
    signature[40] ^= 1;
    return signature;
  };
  load({{"ml_dsa", "always"}, {"verify", "full"}});
  for (int n = 0; n < 3; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_EQ(3u, count("failures"));
  EXPECT_EQ(3u, count("cpu-jobs"));
  EXPECT_EQ(0u, count("service-jobs"));
  fake.sign = sign_mu;
  EXPECT_TRUE(signs_rightly());
  EXPECT_EQ(1u, count("service-jobs"));
}

TEST_F(MlDsaByService, RequiredAndNotThereIsAnError) {
  unsetenv("XDG_RUNTIME_DIR");
  if (access("/run/lanecrypt/socket", F_OK) == 0) GTEST_SKIP() << "a service runs here";
  load({{"service", "require"}});
  EXPECT_TRUE(sign(Bytes(10)).empty());
  EXPECT_NE(std::string::npos, errors.find("service = require is set")) << errors;
  EXPECT_EQ(1u, count("failures"));
  EXPECT_EQ(0u, count("cpu-jobs"));
}

TEST_F(MlDsaByService, IsLeftAloneWhereTheSettingsSaySo) {
  load({{"in_process", "yes"}, {"devices", "none"}, {"service", "off"}});
  for (int n = 0; n < 10; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_EQ(0, fake.sessions);
  EXPECT_EQ(10u, count("cpu-jobs"));
}

// With the default settings a lone signature stays on its core.
TEST_F(MlDsaByService, ALoneSignatureStays) {
  for (auto &known : fake.page().ml_dsa_us)
    for (auto &us : known) us = 1'000'000;
  load({});
  for (int n = 0; n < 20; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_EQ(1, fake.sessions);
  EXPECT_EQ(0, fake.requests);
  EXPECT_EQ(20u, count("cpu-jobs"));
}

TEST_F(MlDsaByService, ACrowdGoes) {
  fake.page().cores = 1;
  for (auto &known : fake.page().ml_dsa_us)
    for (auto &us : known) us = 1;
  fake.page().operations = 100;
  load({});
  for (int n = 0; n < 40; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_GE(count("service-jobs"), 25u);
  EXPECT_EQ(40u, count("service-jobs") + count("cpu-jobs"));
}

TEST_F(MlDsaByService, ForgetsKeysAndEndsWithTheProvider) {
  load({{"ml_dsa", "always"}});
  EXPECT_TRUE(signs_rightly());
  key.reset();
  for (int n = 0; n < 5000 && fake.forgotten == 0; ++n)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(1, fake.forgotten);
  library.reset();
  for (int n = 0; n < 5000 && fake.ended == 0; ++n)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(1, fake.ended);
}

}  // namespace
}  // namespace provider_test
