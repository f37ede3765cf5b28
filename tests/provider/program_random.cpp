// Tests that the provider draws from the program's random generator, as the program configured it.
// Here that is TEST-RAND, which returns the bytes that it was given, and then fails.
//
// SPDX-License-Identifier: Apache-2.0
#define OPENSSL_SUPPRESS_DEPRECATED
#include <gtest/gtest.h>
#include <openssl/rand.h>

#include <algorithm>
#include <atomic>

#include "provider/rsa/rsa_twins.h"

namespace provider_test {
namespace {

constexpr size_t kPlenty = size_t{4} << 20;

Bytes real_random(size_t bytes) {
  Bytes random(bytes);
  for (size_t at = 0; at < bytes; at += 65536)
    EXPECT_EQ(1, O(RAND_bytes)(random.data() + at, int(std::min<size_t>(65536, bytes - at))));
  return random;
}

class ProgramRandom : public testing::Test {
 protected:
  ProgramRandom() : library({{"devices", rsa_devices()}, {"rsa", "always"}}) {}
  void SetUp() override {
    ASSERT_TRUE(library.is_ready()) << library.errors();
    ASSERT_EQ(1, O(RAND_set_DRBG_type)(library.get(), "TEST-RAND", nullptr, nullptr, nullptr));
    ASSERT_NE(nullptr, for_all());
    ASSERT_NE(nullptr, for_salts());
    ASSERT_NE(nullptr, for_secrets());
    for (EVP_RAND_CTX *generator : {for_all(), for_salts(), for_secrets()})
      give(generator, real_random(kPlenty));
    keys = make_key_twins(library, "RSA", 1024);
  }

  // The generators of this thread, and the one that seeds those of all threads.
  EVP_RAND_CTX *for_salts() { return O(RAND_get0_public)(library.get()); }
  EVP_RAND_CTX *for_secrets() { return O(RAND_get0_private)(library.get()); }
  EVP_RAND_CTX *for_all() { return O(RAND_get0_primary)(library.get()); }

  void give(EVP_RAND_CTX *generator, Bytes bytes) {
    // One byte stands for none, because every request is longer.
    if (bytes.empty()) bytes.resize(1);
    const OSSL_PARAM params[] = {
        {OSSL_RAND_PARAM_TEST_ENTROPY, OSSL_PARAM_OCTET_STRING, bytes.data(), bytes.size(), 0},
        OSSL_PARAM_END};
    ASSERT_EQ(1, O(EVP_RAND_CTX_set_params)(generator, params));
  }

  // sign() returns the signature; empty on failure.
  Bytes sign(int side) {
    const PkeyContext context = context_for(library, keys.sides[side].get(), kProperties[side]);
    const Bytes digest(32, 7);
    Bytes signature(keys.bytes);
    size_t bytes = signature.size();
    EVP_MD *sha256 = O(EVP_MD_fetch)(library.get(), "SHA256", nullptr);
    const bool done = O(EVP_PKEY_sign_init)(context.get()) == 1 &&
                      O(EVP_PKEY_CTX_set_rsa_padding)(context.get(), RSA_PKCS1_PSS_PADDING) == 1 &&
                      O(EVP_PKEY_CTX_set_signature_md)(context.get(), sha256) == 1 &&
                      O(EVP_PKEY_sign)(context.get(), signature.data(), &bytes, digest.data(),
                                       digest.size()) == 1;
    O(EVP_MD_free)(sha256);
    take_errors();
    return done ? signature : Bytes();
  }

  Pkey generate() {
    const PkeyContext context(O(EVP_PKEY_CTX_new_from_name)(library.get(), "RSA", kProperties[1]));
    EVP_PKEY *key = nullptr;
    if (O(EVP_PKEY_keygen_init)(context.get()) != 1 ||
        O(EVP_PKEY_CTX_set_rsa_keygen_bits)(context.get(), 1024) != 1 ||
        O(EVP_PKEY_generate)(context.get(), &key) != 1)
      key = nullptr;
    take_errors();
    return Pkey(key);
  }

  Library library;
  KeyTwins keys;
};

TEST_F(ProgramRandom, GivesSalts) {
  const Bytes salts = real_random(keys.bytes);
  Bytes signatures[2];
  for (int side : {0, 1}) {
    give(for_salts(), salts);
    signatures[side] = sign(side);
  }
  EXPECT_EQ(1u, rsa_device_jobs(library));
  EXPECT_FALSE(signatures[0].empty());
  EXPECT_EQ(signatures[0], signatures[1]);
  give(for_salts(), {});
  for (int side : {0, 1}) EXPECT_TRUE(sign(side).empty());
}

// Random bytes replace a premaster secret with wrong padding.
TEST_F(ProgramRandom, GivesPremasterSecrets) {
  const Bytes wrong(keys.bytes, 1);
  Bytes sealed(keys.bytes), opened(keys.bytes);
  size_t bytes = sealed.size();
  const PkeyContext seals = context_for(library, keys.sides[0].get(), kProperties[0]);
  ASSERT_EQ(1, O(EVP_PKEY_encrypt_init)(seals.get()));
  ASSERT_EQ(1, O(EVP_PKEY_CTX_set_rsa_padding)(seals.get(), RSA_NO_PADDING));
  ASSERT_EQ(1, O(EVP_PKEY_encrypt)(seals.get(), sealed.data(), &bytes, wrong.data(), wrong.size()));

  const PkeyContext opens = context_for(library, keys.sides[1].get(), kProperties[1]);
  unsigned version = 0x303;
  int padding = RSA_PKCS1_WITH_TLS_PADDING;
  const OSSL_PARAM params[] = {
      {OSSL_ASYM_CIPHER_PARAM_PAD_MODE, OSSL_PARAM_INTEGER, &padding, sizeof padding, 0},
      {OSSL_ASYM_CIPHER_PARAM_TLS_CLIENT_VERSION, OSSL_PARAM_UNSIGNED_INTEGER, &version,
       sizeof version, 0},
      OSSL_PARAM_END};
  ASSERT_EQ(1, O(EVP_PKEY_decrypt_init)(opens.get()));
  ASSERT_EQ(1, O(EVP_PKEY_CTX_set_params)(opens.get(), params));
  // What blinds comes from there too.
  const Bytes given = real_random(48 + 36);
  give(for_secrets(), given);
  bytes = opened.size();
  ASSERT_EQ(1,
            O(EVP_PKEY_decrypt)(opens.get(), opened.data(), &bytes, sealed.data(), sealed.size()))
      << take_error_texts();
  opened.resize(bytes);
  EXPECT_EQ(48u, opened.size());
  EXPECT_NE(given.end(), std::search(given.begin(), given.end(), opened.begin(), opened.end()));
  EXPECT_EQ(1u, rsa_device_jobs(library));
}

// The primes come from the generator of the thread that requests the key, although other threads
// search for them.
TEST_F(ProgramRandom, GivesKeys) {
  give(for_all(), {});
  // Since OpenSSL 3.5 the threads that search have their own generators in that context, and these
  // have no bytes to return.
  if (100 * O(OPENSSL_version_major)() + O(OPENSSL_version_minor)() >= 305) {
    give(for_secrets(), {});
    EXPECT_FALSE(generate());
    return;
  }
  EXPECT_TRUE(generate());
  EXPECT_EQ(1u, library.counter("lanecrypt.rsa-device-keys"));
  give(for_secrets(), {});
  EXPECT_FALSE(generate());
}

TEST_F(ProgramRandom, Blinds) {
  give(for_all(), {});
  EXPECT_FALSE(sign(1).empty());
  EXPECT_EQ(1u, rsa_device_jobs(library));
  // No device goes on without random bits, and leaves what then happens to OpenSSL.
  give(for_secrets(), {});
  EXPECT_EQ(sign(0).empty(), sign(1).empty());
  EXPECT_EQ(1u, rsa_device_jobs(library));
}

// The bytes drawn from a RAND_METHOD that the program has set for all contexts.
std::atomic<size_t> bytes_of_method;

TEST_F(ProgramRandom, MayBeAMethod) {
  RAND_METHOD method = *O(RAND_OpenSSL)();
  method.bytes = [](unsigned char *to, int bytes) {
    bytes_of_method += size_t(bytes);
    return O(RAND_OpenSSL)()->bytes(to, bytes);
  };
  for (EVP_RAND_CTX *generator : {for_all(), for_salts(), for_secrets()}) give(generator, {});
  ASSERT_EQ(1, O(RAND_set_rand_method)(&method));
  const auto counted = [this](const auto &does) {
    const size_t before = bytes_of_method;
    EXPECT_TRUE(does());
    return bytes_of_method - before;
  };
  // A salt, and what blinds.
  EXPECT_GE(counted([this] { return !sign(1).empty(); }), 32 + 36);
  EXPECT_GT(counted([this] { return generate() != nullptr; }), keys.bytes);
  O(RAND_set_rand_method)(nullptr);
  EXPECT_EQ(1u, rsa_device_jobs(library));
  EXPECT_EQ(1u, library.counter("lanecrypt.rsa-device-keys"));
}

}  // namespace
}  // namespace provider_test
