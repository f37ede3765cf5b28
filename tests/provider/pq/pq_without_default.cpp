// Tests the provider alone in a library context, and with OpenSSL's base provider: keys are
// generated and sign, even if only our own library context has a random generator.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/rand.h>

#include "provider/pq/pq_keys.h"

namespace provider_test {
namespace {

const char *const kTypes[] = {"ML-DSA-44", "ML-DSA-87", "SLH-DSA-SHA2-128f", "SLH-DSA-SHAKE-128f"};
const Bytes kMessage(100, 5);

Bytes sign(Library &library, const Pkey &key, int deterministic) {
  const Hash context(O(EVP_MD_CTX_new)());
  Bytes signature(60000);
  size_t bytes = signature.size();
  const OSSL_PARAM params[] = {
      {"deterministic", OSSL_PARAM_INTEGER, &deterministic, sizeof deterministic, 0},
      OSSL_PARAM_END};
  if (O(EVP_DigestSignInit_ex)(context.get(), nullptr, nullptr, library.get(), nullptr, key.get(),
                               params) != 1 ||
      O(EVP_DigestSign)(context.get(), signature.data(), &bytes, kMessage.data(),
                        kMessage.size()) != 1)
    return {};
  signature.resize(bytes);
  return signature;
}

bool is_right(Library &library, const Pkey &key, const Bytes &signature) {
  const Hash context(O(EVP_MD_CTX_new)());
  return O(EVP_DigestVerifyInit_ex)(context.get(), nullptr, nullptr, library.get(), nullptr,
                                    key.get(), nullptr) == 1 &&
         O(EVP_DigestVerify)(context.get(), signature.data(), signature.size(), kMessage.data(),
                             kMessage.size()) == 1;
}

class PqWithoutDefault : public testing::TestWithParam<const char *> {
 protected:
  void SetUp() override {
    if (!has_pq()) GTEST_SKIP() << "this OpenSSL has neither family";
    const bool in_process = std::string(GetParam()) == "devices";
    library = std::make_unique<Library>(
        in_process ? Settings{{"devices", "host"}, {"ml_dsa", "always"}, {"slh_dsa", "always"}}
                   : Settings{{"in_process", "no"}},
        false);
    ASSERT_TRUE(library->is_ready()) << library->errors();
  }
  std::unique_ptr<Library> library;
};

TEST_P(PqWithoutDefault, KeysSign) {
  for (const char *type : kTypes) {
    const Pkey key = generate(*library, type, nullptr);
    ASSERT_NE(nullptr, key) << type << take_error_texts();
    for (const int deterministic : {0, 1}) {
      const Bytes signature = sign(*library, key, deterministic);
      EXPECT_FALSE(signature.empty()) << type << take_error_texts();
      EXPECT_TRUE(is_right(*library, key, signature)) << type;
      // Hedged signatures differ, and deterministic ones do not.
      EXPECT_EQ(deterministic == 1, signature == sign(*library, key, deterministic)) << type;
    }
    EXPECT_EQ("", take_error_texts());
  }
}

TEST_P(PqWithoutDefault, WithBaseKeysAreWrittenAndRead) {
  OSSL_PROVIDER *const base = O(OSSL_PROVIDER_load)(library->get(), "base");
  ASSERT_NE(nullptr, base);
  for (const char *type : {"ML-DSA-44", "ML-DSA-65", "RSA"}) {
    const Pkey key = generate(*library, type, nullptr);
    ASSERT_NE(nullptr, key) << type << take_error_texts();
    for (const char *output : {"DER", "PEM"}) {
      const Bytes file = written(key.get(), EVP_PKEY_KEYPAIR, output, "PrivateKeyInfo"),
                  open = written(key.get(), EVP_PKEY_PUBLIC_KEY, output, "SubjectPublicKeyInfo");
      const Pkey read = read_key(*library, file, nullptr, output);
      ASSERT_NE(nullptr, read) << type << " " << output << take_error_texts();
      EXPECT_EQ(1, O(EVP_PKEY_eq)(read.get(), key.get())) << type;
      const Pkey read_open = read_key(*library, open, nullptr, output);
      ASSERT_NE(nullptr, read_open) << type << " " << output << take_error_texts();
      if (type[0] != 'R') {
        EXPECT_TRUE(is_right(*library, read_open, sign(*library, read, 0))) << type;
      }
    }
  }
  O(OSSL_PROVIDER_unload)(base);
  take_errors();
}

INSTANTIATE_TEST_SUITE_P(By, PqWithoutDefault, testing::Values("cores", "devices"),
                         [](const auto &one) { return std::string(one.param); });

// If the program's generator exists and fails, no other one is used.
TEST(PqRandom, AFailingGeneratorFails) {
  if (!has_pq()) GTEST_SKIP() << "this OpenSSL has neither family";
  Library library(Settings{{"in_process", "no"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  const Pkey key = generate(library, "ML-DSA-44", "provider=gpu");
  ASSERT_NE(nullptr, key);
  EVP_RAND_CTX *const generator = O(RAND_get0_private)(library.get());
  ASSERT_NE(nullptr, generator);
  // An uninstantiated generator fails.
  ASSERT_EQ(1, O(EVP_RAND_uninstantiate)(generator));
  ASSERT_EQ(1, O(EVP_RAND_uninstantiate)(O(RAND_get0_primary)(library.get())));
  unsigned char byte = 0;
  const bool fails = O(RAND_priv_bytes_ex)(library.get(), &byte, 1, 0) != 1;
  take_errors();
  EXPECT_EQ(fails, sign(library, key, 0).empty());
  EXPECT_EQ(fails, !take_errors().empty());
}

}  // namespace
}  // namespace provider_test
