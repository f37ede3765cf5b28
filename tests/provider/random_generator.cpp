// Tests OpenSSL's random generator. Before 3.5 it fetches AES from the provider if the application
// prefers that. None of its requests goes to a device, even if the settings force one.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/rand.h>

#include <cstring>

#include "provider/provider_under_test.h"

namespace provider_test {
namespace {

const Settings kForced = {
    {"devices", "host"}, {"threshold_bytes", "0"}, {"cores", "64"}, {"prefer", "offload"}};

bool fetches_by_default_properties() {
  return 100 * O(OPENSSL_version_major)() + O(OPENSSL_version_minor)() < 305;
}

class RandomGenerator : public testing::TestWithParam<const char *> {
 protected:
  // draw() makes requests of all lengths to each generator of a context.
  void draw(Library &library) {
    std::vector<uint8_t> bytes(1 << 20);
    for (const size_t length : {1, 16, 48, 4096, 65535, 65536, 65537, 1 << 20}) {
      ASSERT_EQ(1, O(RAND_bytes_ex)(library.get(), bytes.data(), length, 0));
      ASSERT_EQ(1, O(RAND_priv_bytes_ex)(library.get(), bytes.data(), length, 0));
    }
    // Additional input goes through the derivation function.
    for (EVP_RAND_CTX *generator :
         {O(RAND_get0_public)(library.get()), O(RAND_get0_private)(library.get()),
          O(RAND_get0_primary)(library.get())}) {
      ASSERT_EQ(1, O(EVP_RAND_reseed)(generator, 1, nullptr, 0, bytes.data(), 1000));
      ASSERT_EQ(1, O(EVP_RAND_generate)(generator, bytes.data(), 100000, 0, 0, bytes.data(), 100));
    }
  }
};

TEST_P(RandomGenerator, StaysOnTheCpu) {
  Settings settings = kForced;
  Library library(settings);
  ASSERT_TRUE(library.is_ready()) << library.errors();
  ASSERT_EQ(1, O(EVP_set_default_properties)(library.get(), "?provider=gpu"));
  ASSERT_EQ(1, O(RAND_set_DRBG_type)(library.get(), "CTR-DRBG", nullptr, GetParam(), nullptr));
  draw(library);
  EXPECT_EQ(0u, library.counter("lanecrypt.device-jobs"));
  EXPECT_EQ(0u, library.counter("lanecrypt.cores-bytes"));
  EXPECT_EQ("[]", library.text_param("lanecrypt.devices"));
  // The generator did use our provider.
  EXPECT_EQ(fetches_by_default_properties(), library.counter("lanecrypt.cpu-jobs") > 0);
}
INSTANTIATE_TEST_SUITE_P(Ciphers, RandomGenerator,
                         testing::Values("AES-128-CTR", "AES-192-CTR", "AES-256-CTR"));

// Random numbers are available even if a device is required and there is none.
TEST_F(RandomGenerator, NeedsNoDevice) {
  Library library({{"devices", "none"}, {"threshold_bytes", "0"}, {"require_gpu", "yes"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  ASSERT_EQ(1, O(EVP_set_default_properties)(library.get(), "?provider=gpu"));
  draw(library);
  EXPECT_EQ(0u, library.counter("lanecrypt.failures"));
}

// An application's own requests go where the settings say.
TEST_F(RandomGenerator, IsNotWhatApplicationsAre) {
  Library library(kForced);
  ASSERT_TRUE(library.is_ready()) << library.errors();
  const uint8_t key[32] = {1}, iv[16] = {};
  std::vector<uint8_t> data(65536 + 16);
  uint64_t jobs = 0;
  const auto encrypt = [&](const char *name, bool apart, int bytes) {
    EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
    int done = 0;
    EXPECT_EQ(
        1, O(EVP_EncryptInit_ex2)(context, library.cipher(name, "gpu"), nullptr, nullptr, nullptr));
    if (apart) {
      EXPECT_EQ(1, O(EVP_EncryptInit_ex2)(context, nullptr, key, nullptr, nullptr));
      EXPECT_EQ(1, O(EVP_EncryptInit_ex2)(context, nullptr, nullptr, iv, nullptr));
    } else {
      EXPECT_EQ(1, O(EVP_EncryptInit_ex2)(context, nullptr, key, iv, nullptr));
    }
    EXPECT_EQ(1, O(EVP_EncryptUpdate)(context, data.data(), &done, data.data(), bytes));
    O(EVP_CIPHER_CTX_free)(context);
    const uint64_t before = jobs;
    jobs = library.counter("lanecrypt.device-jobs");
    return jobs - before;
  };
  EXPECT_EQ(1u, encrypt("AES-256-CTR", false, 4096));
  EXPECT_EQ(1u, encrypt("AES-256-CTR", true, 65536 + 16));
  EXPECT_EQ(0u, encrypt("AES-256-CTR", true, 65536));
  EXPECT_EQ(1u, encrypt("AES-256-ECB", true, 64));
  EXPECT_EQ(1u, encrypt("AES-256-ECB", false, 48));
}

}  // namespace
}  // namespace provider_test
