// Tests ML-DSA and SLH-DSA signatures by a fake service, which signs with the key that it was
// given: ML-DSA by the default provider, and SLH-DSA, for which that accepts no digest, by the
// library's CPU code. Only from OpenSSL 3.5 on.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cpu/slh/cpu_slh.h"
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

// sign_mu() signs by OpenSSL, in the NULL library context, which does not have our provider.
Bytes sign_mu(const wire::SignatureSet &set, std::span<const uint8_t> input, const Bytes &secret) {
  const std::string name = "ML-DSA-" + std::to_string(set.number);
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
  Bytes signature(set.signature_bytes);
  size_t length = signature.size();
  const bool done = O(EVP_DigestSignInit_ex)(context.get(), nullptr, nullptr, nullptr, nullptr,
                                             key.get(), params) == 1 &&
                    O(EVP_DigestSign)(context.get(), signature.data(), &length, input.data(),
                                      wire::kMlDsaMuBytes) == 1;
  return done ? signature : Bytes();
}

// sign_digest() signs R and the digest, with SK.seed, PK.seed and PK.root.
Bytes sign_digest(const wire::SignatureSet &set, std::span<const uint8_t> input,
                  const Bytes &secret) {
  const size_t n = secret.size() / 3;
  Bytes whole = secret;
  whole.insert(whole.begin() + std::ptrdiff_t(n), n, uint8_t{0});
  lanecrypt::SlhKey key(*lanecrypt::find_slh_set(set.number), whole, {});
  EXPECT_TRUE(lanecrypt::cpu::prepare(key).ok());
  lanecrypt::cpu::SlhHashed hashed;
  std::copy_n(input.begin(), n, hashed.r);
  std::copy(input.begin() + std::ptrdiff_t(n), input.end(), hashed.digest);
  Bytes signature(set.signature_bytes);
  EXPECT_TRUE(lanecrypt::cpu::slh_sign(key, hashed, signature).ok());
  return signature;
}

Bytes sign_input(const wire::SignatureSet &set, std::span<const uint8_t> input,
                 const Bytes &secret) {
  return set.family == wire::Family::kMlDsa ? sign_mu(set, input, secret)
                                            : sign_digest(set, input, secret);
}

struct TriedFamily {
  const char *setting;
  std::string counters;  // the prefix of their names
  std::vector<const char *> sets;
  // The position and length of the hedging random bytes in the service's input.
  size_t hedged_at, hedged_bytes;

  const char *set() const { return sets.front(); }
};
const TriedFamily kMlDsa{
    "ml_dsa", "lanecrypt.ml-dsa-", {"ML-DSA-65", "ML-DSA-44", "ML-DSA-87"}, 64, 32};
// A parameter set of each hash.
const TriedFamily kSlhDsa{"slh_dsa",
                          "lanecrypt.slh-dsa-",
                          {"SLH-DSA-SHA2-128f", "SLH-DSA-SHAKE-128f", "SLH-DSA-SHA2-192f"},
                          0,
                          16};

class SignaturesByService : public testing::TestWithParam<TriedFamily> {
 protected:
  void SetUp() override {
    const Pkey any(O(EVP_PKEY_Q_keygen)(nullptr, nullptr, "ML-DSA-65"));
    take_errors();
    if (any == nullptr) GTEST_SKIP() << "this OpenSSL has neither family";
    fake.sign = sign_input;
    (void)take_system_log();
  }
  virtual const TriedFamily &family() const { return GetParam(); }
  void load(Settings settings, const char *name = nullptr) {
    settings.insert(settings.begin(), {{"in_process", "no"}, {"service", fake.path()}});
    key.reset();
    library = std::make_unique<Library>(settings);
    ASSERT_TRUE(library->is_ready()) << library->errors();
    key.reset(O(EVP_PKEY_Q_keygen)(library->get(), "provider=gpu",
                                   name == nullptr ? family().set() : name));
    ASSERT_NE(nullptr, key) << take_error_texts();
  }
  void load_always(const char *name = nullptr, Settings more = {}) {
    more.insert(more.begin(), {family().setting, "always"});
    load(more, name);
  }
  uint64_t count(const char *name) { return library->counter((family().counters + name).c_str()); }
  // sign() returns the signature; empty on failure, with the errors in `errors`.
  Bytes sign(const Bytes &message, const OSSL_PARAM *params = nullptr,
             const char *properties = "provider=gpu") {
    const Hash context(O(EVP_MD_CTX_new)());
    size_t bytes = wire::kMostOutputBytes;
    Bytes signature(bytes);
    const bool done = O(EVP_DigestSignInit_ex)(context.get(), nullptr, nullptr, library->get(),
                                               properties, key.get(), params) == 1 &&
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

TEST_P(SignaturesByService, SignsWithEachSet) {
  for (const char *name : family().sets) {
    load_always(name);
    const int keys = fake.with_key;
    for (int n = 0; n < 3; ++n) EXPECT_TRUE(signs_rightly(n)) << name << errors;
    EXPECT_EQ(3u, count("service-jobs"));
    EXPECT_EQ(3u, count("device-jobs"));
    EXPECT_EQ(0u, count("cpu-jobs"));
    EXPECT_EQ(0u, count("failures"));
    EXPECT_EQ(keys + 1, fake.with_key);
  }
}

// The program's generator supplies the hedging random bytes, and each signature differs.
TEST_P(SignaturesByService, HedgesEachSignature) {
  std::vector<Bytes> inputs;
  fake.sign = [&](const wire::SignatureSet &set, std::span<const uint8_t> input,
                  const Bytes &secret) {
    inputs.emplace_back(input.begin(), input.end());
    return sign_input(set, input, secret);
  };
  load_always();
  EXPECT_TRUE(signs_rightly(1));
  EXPECT_TRUE(signs_rightly(1));
  ASSERT_EQ(2u, inputs.size());
  const auto hedge = [&](size_t n) {
    const auto at = inputs[n].begin() + std::ptrdiff_t(family().hedged_at);
    return Bytes(at, at + std::ptrdiff_t(family().hedged_bytes));
  };
  EXPECT_NE(hedge(0), hedge(1));
  EXPECT_NE(Bytes(family().hedged_bytes), hedge(0));
}

TEST_P(SignaturesByService, TheCpuDoesWhatIsRefused) {
  load_always();
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
  // A key that the service does not accept is not sent again.
  fake.outcome = wire::Outcome::kBadKey;
  EXPECT_TRUE(signs_rightly());
  const int requests = fake.requests;
  EXPECT_TRUE(signs_rightly());
  EXPECT_EQ(requests, fake.requests);
  EXPECT_EQ(0u, count("service-jobs"));
  EXPECT_TRUE(take_system_log().empty());
}

TEST_P(SignaturesByService, ALossIsToldOnce) {
  load_always();
  EXPECT_TRUE(signs_rightly());
  fake.stop();
  for (int n = 0; n < 10; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_EQ(1u, take_system_log().size());
  EXPECT_EQ(1u, count("failures"));
  EXPECT_EQ(10u, count("cpu-jobs"));
  // The service starts again.
  fake.start();
  for (int n = 0; n < 500 && count("service-jobs") < 2; ++n) {
    EXPECT_TRUE(signs_rightly(n));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(2u, count("service-jobs"));
}

TEST_P(SignaturesByService, WrongSignaturesAreFoundIfAllAreChecked) {
  fake.sign = [](const wire::SignatureSet &set, std::span<const uint8_t> input,
                 const Bytes &secret) {
    Bytes signature = sign_input(set, input, secret);
    signature[40] ^= 1;
    return signature;
  };
  load_always(nullptr, {{"verify", "full"}});
  for (int n = 0; n < 3; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_EQ(3u, count("failures"));
  EXPECT_EQ(3u, count("cpu-jobs"));
  EXPECT_EQ(0u, count("service-jobs"));
  fake.sign = sign_input;
  EXPECT_TRUE(signs_rightly());
  EXPECT_EQ(1u, count("service-jobs"));
}

TEST_P(SignaturesByService, RequiredAndNotThereIsAnError) {
  unsetenv("XDG_RUNTIME_DIR");
  if (access("/run/lanecrypt/socket", F_OK) == 0) GTEST_SKIP() << "a service runs here";
  load({{"service", "require"}});
  EXPECT_TRUE(sign(Bytes(10)).empty());
  EXPECT_NE(std::string::npos, errors.find("service = require is set")) << errors;
  EXPECT_EQ(1u, count("failures"));
  EXPECT_EQ(0u, count("cpu-jobs"));
}

TEST_P(SignaturesByService, IsLeftAloneWhereTheSettingsSaySo) {
  load({{"in_process", "yes"}, {"devices", "none"}, {"service", "off"}});
  for (int n = 0; n < 10; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_EQ(0, fake.sessions);
  EXPECT_EQ(10u, count("cpu-jobs"));
}

TEST_P(SignaturesByService, ForgetsKeysAndEndsWithTheProvider) {
  load_always();
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

INSTANTIATE_TEST_SUITE_P(EachFamily, SignaturesByService, testing::Values(kMlDsa, kSlhDsa),
                         [](const auto &family) {
                           return std::string(family.param.setting == kMlDsa.setting ? "MlDsa"
                                                                                     : "SlhDsa");
                         });

class MlDsaByService : public SignaturesByService {
 protected:
  const TriedFamily &family() const override { return kMlDsa; }
};

// With the default settings, a lone signature stays on its core.
TEST_F(MlDsaByService, ALoneSignatureStays) {
  for (auto &known : fake.page().sign_us)
    for (auto &us : known) us = 1'000'000;
  load({});
  for (int n = 0; n < 20; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_EQ(1, fake.sessions);
  EXPECT_EQ(0, fake.requests);
  EXPECT_EQ(20u, count("cpu-jobs"));
}

TEST_F(MlDsaByService, ACrowdGoes) {
  fake.page().cores = 1;
  for (auto &known : fake.page().sign_us)
    for (auto &us : known) us = 1;
  fake.page().operations = 100;
  load({});
  for (int n = 0; n < 40; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_GE(count("service-jobs"), 25u);
  EXPECT_EQ(40u, count("service-jobs") + count("cpu-jobs"));
}

class SlhDsaByService : public SignaturesByService {
 protected:
  const TriedFamily &family() const override { return kSlhDsa; }
};

// With the default settings, the first signature goes to the service if a device is faster than any
// core.
TEST_F(SlhDsaByService, ALoneSignatureGoes) {
  for (auto &known : fake.page().sign_us)
    for (auto &us : known) us = 2000;
  load({});
  EXPECT_TRUE(signs_rightly());
  EXPECT_EQ(1u, count("service-jobs"));
  EXPECT_EQ(0u, count("cpu-jobs"));
}

TEST_F(SlhDsaByService, ASlowDeviceGetsNone) {
  for (auto &known : fake.page().sign_us)
    for (auto &us : known) us = 60'000'000;
  load({});
  for (int n = 0; n < 3; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_EQ(0, fake.requests);
  EXPECT_EQ(3u, count("cpu-jobs"));
}

// The hash that is computed here is the one that the default provider computes, of a message of any
// length.
TEST_F(SlhDsaByService, SignsWhatTheDefaultProviderSigns) {
  int yes = 1, raw = 0;
  uint8_t where[255];
  std::fill(std::begin(where), std::end(where), uint8_t{0x5c});
  const OSSL_PARAM deterministic{"deterministic", OSSL_PARAM_INTEGER, &yes, sizeof yes, 0};
  const OSSL_PARAM plain[] = {deterministic, OSSL_PARAM_END};
  const OSSL_PARAM context[] = {deterministic,
                                {"context-string", OSSL_PARAM_OCTET_STRING, where, sizeof where, 0},
                                OSSL_PARAM_END};
  const OSSL_PARAM encoded[] = {
      deterministic, {"message-encoding", OSSL_PARAM_INTEGER, &raw, sizeof raw, 0}, OSSL_PARAM_END};
  uint8_t entropy[24];
  std::fill(std::begin(entropy), std::end(entropy), uint8_t{0xa5});
  for (const char *name : family().sets) {
    SCOPED_TRACE(name);
    load_always(name);
    const size_t n = std::string(name).find("192") == std::string::npos ? 16 : 24;
    const OSSL_PARAM hedged[] = {{"test-entropy", OSSL_PARAM_OCTET_STRING, entropy, n, 0},
                                 OSSL_PARAM_END};
    uint64_t done = 0;
    for (const OSSL_PARAM *params : {plain, context, encoded, hedged}) {
      const Bytes message(done == 0 ? 100'000 : done, uint8_t(1));
      const Bytes made = sign(message, params);
      EXPECT_EQ(++done, count("service-jobs")) << errors;
      EXPECT_EQ(sign(message, params, "provider=default"), made);
    }
    EXPECT_EQ(0u, count("cpu-jobs"));
  }
}

// SK.prf is not sent.
TEST_F(SlhDsaByService, SendsNoMoreOfTheKeyThanItNeeds) {
  Bytes sent;
  fake.sign = [&](const wire::SignatureSet &set, std::span<const uint8_t> input,
                  const Bytes &secret) {
    sent = secret;
    return sign_input(set, input, secret);
  };
  load_always();
  EXPECT_TRUE(signs_rightly());
  Bytes whole(64);
  size_t bytes = 0;
  ASSERT_EQ(1, O(EVP_PKEY_get_octet_string_param)(key.get(), OSSL_PKEY_PARAM_PRIV_KEY, whole.data(),
                                                  whole.size(), &bytes));
  ASSERT_EQ(whole.size(), bytes);
  whole.erase(whole.begin() + 16, whole.begin() + 32);
  EXPECT_EQ(whole, sent);
}

// If a signature could reveal the key, the CPU does not make it either.
TEST_F(SlhDsaByService, NobodySignsWhereAFaultWasSigned) {
  load_always();
  fake.answer = FakeService::Answer::kOutcome;
  fake.outcome = wire::Outcome::kFaultSigned;
  EXPECT_TRUE(sign(Bytes(10)).empty());
  EXPECT_NE(std::string::npos, errors.find("could give its key away")) << errors;
  EXPECT_EQ(1u, count("failures"));
  EXPECT_EQ(0u, count("cpu-jobs"));
  fake.answer = FakeService::Answer::kRight;
  EXPECT_TRUE(signs_rightly());
}

// The service generates no keys.
TEST_F(SlhDsaByService, NewKeysAreTheCpus) {
  load({{"service", "require"}});
  EXPECT_EQ(1u, count("cpu-keys"));
  EXPECT_EQ(0, fake.requests);
}

}  // namespace
}  // namespace provider_test
