// Tests a library context whose default properties are `fips=yes`, and fetches that clear the
// property. The algorithms that ours use internally must then be fetched without it too, and no
// fetch leaves an error behind.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>

#include "provider/random_input.h"
#include "provider/rsa/rsa_twins.h"

namespace provider_test {
namespace {

class FipsQuery : public testing::Test {
 protected:
  static constexpr char kOurs[] = "?provider=gpu,-fips";
  Random random{17};

  void demand_fips(Library &library) {
    ASSERT_TRUE(library.is_ready()) << library.errors();
    ASSERT_EQ(O(EVP_set_default_properties)(library.get(), "fips=yes,?provider=gpu"), 1);
    take_errors();
  }
};

// On a device, and by OpenSSL's cipher inside ours.
TEST_F(FipsQuery, CiphersEncrypt) {
  for (const char *threshold : {"0", "1G"}) {
    Library library({{"devices", devices_under_test()}, {"threshold_bytes", threshold}});
    const Bytes key = random_bytes(random, 32), iv = random_bytes(random, 16),
                text = random_bytes(random, 5000);
    Bytes expected(text.size() + 16), made(text.size() + 16);
    demand_fips(library);
    EXPECT_EQ(O(EVP_CIPHER_fetch)(library.get(), "AES-256-CTR", nullptr), nullptr);
    take_errors();
    for (const char *name : {"AES-256-CTR", "AES-256-CBC", "AES-256-GCM", "ChaCha20-Poly1305"}) {
      int sides = 0;
      for (Bytes *out : {&expected, &made}) {
        EVP_CIPHER *cipher = O(EVP_CIPHER_fetch)(library.get(), name,
                                                 out == &made ? kOurs : "provider=default,-fips");
        ASSERT_NE(cipher, nullptr) << take_error_texts();
        const std::string from = O(OSSL_PROVIDER_get0_name)(O(EVP_CIPHER_get0_provider)(cipher));
        EXPECT_EQ(from, out == &made ? "gpu" : "default");
        EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
        int bytes = 0, more = 0;
        EXPECT_EQ(O(EVP_EncryptInit_ex2)(context, cipher, key.data(), iv.data(), nullptr), 1);
        for (size_t at : {size_t(0), size_t(2500)}) {
          EXPECT_EQ(
              O(EVP_EncryptUpdate)(context, out->data() + bytes, &more, text.data() + at, 2500), 1);
          bytes += more;
        }
        EXPECT_EQ(O(EVP_EncryptFinal_ex)(context, out->data() + bytes, &more), 1);
        O(EVP_CIPHER_CTX_free)(context);
        O(EVP_CIPHER_free)(cipher);
        EXPECT_EQ(take_error_texts(), "") << name;
        ++sides;
      }
      EXPECT_EQ(sides, 2);
      EXPECT_EQ(made, expected) << name;
    }
    EXPECT_EQ(library.counter("lanecrypt.device-jobs") > 0, std::strcmp(threshold, "0") == 0);
  }
}

// The random generators were created before. Without a provider with FIPS generators there would be
// none, and none for OpenSSL's own RSA either.
TEST_F(FipsQuery, RsaSignsAndDecrypts) {
  for (const char *rsa : {"always", "auto"}) {
    Library library(
        {{"devices", std::strcmp(rsa, "always") == 0 ? rsa_devices() : "none"}, {"rsa", rsa}});
    ASSERT_TRUE(library.is_ready()) << library.errors();
    const KeyTwins keys = make_key_twins(library, "RSA", 2048);
    ASSERT_NE(keys.sides[1], nullptr);
    const auto sign = [&](const char *properties) {
      EVP_MD_CTX *context = O(EVP_MD_CTX_new)();
      Bytes signature(keys.bytes), text = random_bytes(random, 100);
      size_t bytes = signature.size();
      EXPECT_EQ(O(EVP_DigestSignInit_ex)(context, nullptr, "SHA256", library.get(), properties,
                                         keys.sides[1].get(), nullptr),
                1);
      EXPECT_EQ(O(EVP_DigestSign)(context, signature.data(), &bytes, text.data(), text.size()), 1);
      EXPECT_EQ(O(EVP_MD_CTX_reset)(context), 1);
      EXPECT_EQ(O(EVP_DigestVerifyInit_ex)(context, nullptr, "SHA256", library.get(),
                                           "provider=default,-fips", keys.sides[0].get(), nullptr),
                1);
      EXPECT_EQ(O(EVP_DigestVerify)(context, signature.data(), bytes, text.data(), text.size()), 1);
      O(EVP_MD_CTX_free)(context);
      EXPECT_EQ(take_error_texts(), "");
    };
    const auto decrypt = [&](EVP_PKEY *key, const char *properties, bool where_openssl_can) {
      const PkeyContext encrypting = context_for(library, key, properties);
      const PkeyContext decrypting = context_for(library, key, properties);
      const Bytes secret = random_bytes(random, 40);
      Bytes sealed(256), opened(256);
      size_t sealed_bytes = sealed.size(), opened_bytes = opened.size();
      EXPECT_EQ(O(EVP_PKEY_encrypt_init)(encrypting.get()), 1);
      EXPECT_EQ(O(EVP_PKEY_encrypt)(encrypting.get(), sealed.data(), &sealed_bytes, secret.data(),
                                    secret.size()),
                1);
      EXPECT_EQ(O(EVP_PKEY_decrypt_init)(decrypting.get()), 1);
      const PkeyContext theirs =
          context_for(library, keys.sides[0].get(), "provider=default,-fips");
      EXPECT_EQ(O(EVP_PKEY_decrypt_init)(theirs.get()), 1);
      size_t their_bytes = opened.size();
      const bool they_can = O(EVP_PKEY_decrypt)(theirs.get(), opened.data(), &their_bytes,
                                                sealed.data(), sealed_bytes) == 1;
      take_error_texts();
      if (where_openssl_can && !they_can) return;
      EXPECT_EQ(O(EVP_PKEY_decrypt)(decrypting.get(), opened.data(), &opened_bytes, sealed.data(),
                                    sealed_bytes),
                1);
      opened.resize(opened_bytes);
      EXPECT_EQ(opened, secret);
      EXPECT_EQ(take_error_texts(), "");
    };
    sign("?provider=gpu");
    decrypt(keys.sides[1].get(), "?provider=gpu", false);
    demand_fips(library);
    // This uses methods that were fetched before, and a key imported from its numbers.
    sign(kOurs);
    OSSL_PARAM *numbers = parameters_of(keys.sides[0], EVP_PKEY_KEYPAIR);
    EVP_PKEY *made = nullptr;
    const PkeyContext making(O(EVP_PKEY_CTX_new_from_name)(library.get(), "RSA", kOurs));
    ASSERT_NE(making, nullptr);
    EXPECT_EQ(O(EVP_PKEY_fromdata_init)(making.get()), 1);
    EXPECT_EQ(O(EVP_PKEY_fromdata)(making.get(), &made, EVP_PKEY_KEYPAIR, numbers), 1)
        << take_error_texts();
    O(OSSL_PARAM_free)(numbers);
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(take_error_texts(), "");
    // OpenSSL's own PKCS #1 v1.5 with implicit rejection (from 3.2 on, and in distributions' 3.0)
    // fetches a digest that no provider then has.
    decrypt(made, kOurs, true);
    O(EVP_PKEY_free)(made);
    EXPECT_EQ(take_error_texts(), "");
    EXPECT_EQ(rsa_device_jobs(library) >= 3, std::strcmp(rsa, "always") == 0);
  }
}

}  // namespace
}  // namespace provider_test
