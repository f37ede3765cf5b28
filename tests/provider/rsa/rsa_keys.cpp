// Tests RSA keys: generated, imported, exported, compared, checked and copied. The provider must
// behave like OpenSSL.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/core_dispatch.h>
#include <openssl/pem.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "provider/rsa/rsa_twins.h"

namespace provider_test {
namespace {

class RsaKeys : public testing::Test {
 protected:
  Library library{{{"devices", rsa_devices()}, {"rsa", "always"}}};
  void SetUp() override { ASSERT_TRUE(library.is_ready()) << library.errors(); }

  // told_by() returns all gettable parameters of a key, by name.
  static std::map<std::string, Bytes> told_by(EVP_PKEY *key) {
    std::map<std::string, Bytes> told;
    const OSSL_PARAM *names = O(EVP_PKEY_gettable_params)(key);
    for (; names != nullptr && names->key != nullptr; ++names) {
      Bytes value(2048);
      OSSL_PARAM params[] = {{names->key, names->data_type, value.data(), value.size(), 0},
                             OSSL_PARAM_END};
      if (names->data_type == OSSL_PARAM_INTEGER) params[0].data_size = sizeof(int);
      params[0].return_size = OSSL_PARAM_UNMODIFIED;
      const int result = O(EVP_PKEY_get_params)(key, params);
      value.resize(params[0].return_size == OSSL_PARAM_UNMODIFIED ? 0 : params[0].return_size);
      value.push_back(uint8_t(result));
      told[names->key] = value;
    }
    take_errors();
    return told;
  }
  static std::map<std::string, Bytes> exported_by(EVP_PKEY *key, int selection) {
    std::map<std::string, Bytes> exported;
    OSSL_PARAM *params = nullptr;
    if (O(EVP_PKEY_todata)(key, selection, &params) != 1) return {{"refused", {}}};
    for (const OSSL_PARAM *param = params; param->key != nullptr; ++param) {
      const uint8_t *data = static_cast<const uint8_t *>(param->data);
      exported[param->key] = Bytes(data, data + param->data_size);
    }
    O(OSSL_PARAM_free)(params);
    return exported;
  }
  KeyTwins restricted_key() {
    return make_key_twins(library, "RSA-PSS", 1024, 2, [](EVP_PKEY_CTX *context) {
      int salt = 20;
      char digest[] = "SHA256", mgf1[] = "SHA256";
      OSSL_PARAM params[] = {
          {OSSL_PKEY_PARAM_RSA_DIGEST, OSSL_PARAM_UTF8_STRING, digest, 6, 0},
          {OSSL_PKEY_PARAM_RSA_MGF1_DIGEST, OSSL_PARAM_UTF8_STRING, mgf1, 6, 0},
          {OSSL_PKEY_PARAM_RSA_PSS_SALTLEN, OSSL_PARAM_INTEGER, &salt, sizeof salt, 0},
          OSSL_PARAM_END};
      EXPECT_EQ(1, O(EVP_PKEY_CTX_set_params)(context, params));
    });
  }
};

TEST_F(RsaKeys, TellTheSame) {
  std::vector<KeyTwins> keys;
  keys.push_back(make_key_twins(library, "RSA", 1024));
  keys.push_back(make_key_twins(library, "RSA", 1536, 3));
  keys.push_back(make_key_twins(library, "RSA-PSS", 1024));
  keys.push_back(restricted_key());
  keys.push_back(copy_key_twins(library, "RSA", keys[0], EVP_PKEY_PUBLIC_KEY));
  for (const KeyTwins &key : keys) {
    EXPECT_EQ(told_by(key.sides[0].get()), told_by(key.sides[1].get()));
    EXPECT_GT(told_by(key.sides[1].get()).size(), 5u);
    for (int selection : {EVP_PKEY_KEYPAIR, EVP_PKEY_PUBLIC_KEY, EVP_PKEY_KEY_PARAMETERS}) {
      EXPECT_EQ(exported_by(key.sides[0].get(), selection),
                exported_by(key.sides[1].get(), selection));
    }
    take_errors();
    for (const auto &get : {O(EVP_PKEY_get_bits), O(EVP_PKEY_get_security_bits),
                            O(EVP_PKEY_get_size), O(EVP_PKEY_get_id), O(EVP_PKEY_get_base_id)})
      EXPECT_EQ(get(key.sides[0].get()), get(key.sides[1].get()));
    char names[2][80] = {};
    EXPECT_EQ(O(EVP_PKEY_get_default_digest_name)(key.sides[0].get(), names[0], 80),
              O(EVP_PKEY_get_default_digest_name)(key.sides[1].get(), names[1], 80));
    EXPECT_STREQ(names[0], names[1]);
    EXPECT_STREQ("gpu", O(OSSL_PROVIDER_get0_name)(O(EVP_PKEY_get0_provider)(key.sides[1].get())));
  }
}

TEST_F(RsaKeys, Match) {
  const KeyTwins a = make_key_twins(library, "RSA", 1024), b = make_key_twins(library, "RSA", 1024),
                 open = copy_key_twins(library, "RSA", a, EVP_PKEY_PUBLIC_KEY),
                 pss = make_key_twins(library, "RSA-PSS", 1024);
  const KeyTwins *all[] = {&a, &b, &open, &pss};
  for (const KeyTwins *first : all)
    for (const KeyTwins *second : all) {
      const int expected = O(EVP_PKEY_eq)(first->sides[0].get(), second->sides[0].get());
      // The same if one of the two keys belongs to the other provider.
      for (int side : {0, 1})
        EXPECT_EQ(expected, O(EVP_PKEY_eq)(first->sides[1].get(), second->sides[side].get()));
      EXPECT_EQ(O(EVP_PKEY_parameters_eq)(first->sides[0].get(), second->sides[0].get()),
                O(EVP_PKEY_parameters_eq)(first->sides[1].get(), second->sides[1].get()));
    }
  take_errors();
}

TEST_F(RsaKeys, ChecksFindWhatIsWrong) {
  const KeyTwins good = make_key_twins(library, "RSA", 1024),
                 open = copy_key_twins(library, "RSA", good, EVP_PKEY_PUBLIC_KEY);
  std::vector<KeyTwins> keys;
  // Each of the numbers is changed in turn.
  for (const char *changed :
       {"", OSSL_PKEY_PARAM_RSA_N, OSSL_PKEY_PARAM_RSA_E, OSSL_PKEY_PARAM_RSA_D,
        OSSL_PKEY_PARAM_RSA_FACTOR1, OSSL_PKEY_PARAM_RSA_FACTOR2, OSSL_PKEY_PARAM_RSA_EXPONENT1,
        OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1}) {
    OSSL_PARAM *params = parameters_of(good.sides[0], EVP_PKEY_KEYPAIR);
    if (OSSL_PARAM *param = O(OSSL_PARAM_locate)(params, changed); param != nullptr)
      static_cast<uint8_t *>(param->data)[0] ^= 6;
    KeyTwins twins;
    for (int side : {0, 1}) {
      const PkeyContext context(
          O(EVP_PKEY_CTX_new_from_name)(library.get(), "RSA", kProperties[side]));
      EVP_PKEY *key = nullptr;
      EXPECT_EQ(1, O(EVP_PKEY_fromdata_init)(context.get()));
      EXPECT_EQ(1, O(EVP_PKEY_fromdata)(context.get(), &key, EVP_PKEY_KEYPAIR, params));
      twins.sides[side].reset(key);
    }
    O(OSSL_PARAM_free)(params);
    keys.push_back(std::move(twins));
  }
  keys.push_back(copy_key_twins(library, "RSA", open, EVP_PKEY_PUBLIC_KEY));
  int wrong = 0;
  for (const KeyTwins &key : keys)
    for (const auto &check :
         {O(EVP_PKEY_check), O(EVP_PKEY_pairwise_check), O(EVP_PKEY_private_check),
          O(EVP_PKEY_public_check), O(EVP_PKEY_public_check_quick), O(EVP_PKEY_param_check)}) {
      Outcome common;
      EXPECT_EQ("", compare(
                        key,
                        [&](EVP_PKEY *pkey, const char *properties, Outcome &) {
                          const PkeyContext context = context_for(library, pkey, properties);
                          return check(context.get());
                        },
                        &common));
      wrong += common.result != 1;
    }
  EXPECT_GT(wrong, 8);
}

TEST_F(RsaKeys, CopiesAreWhole) {
  const KeyTwins key = restricted_key();
  Pkey copy(O(EVP_PKEY_dup)(key.sides[1].get()));
  ASSERT_NE(nullptr, copy);
  EXPECT_EQ(exported_by(key.sides[0].get(), EVP_PKEY_KEYPAIR),
            exported_by(copy.get(), EVP_PKEY_KEYPAIR));
  EXPECT_EQ(1, O(EVP_PKEY_eq)(copy.get(), key.sides[0].get()));
  EXPECT_STREQ("gpu", O(OSSL_PROVIDER_get0_name)(O(EVP_PKEY_get0_provider)(copy.get())));
}

TEST_F(RsaKeys, Generation) {
  const auto generate = [&](const char *type, const char *properties, unsigned bits,
                            unsigned primes, unsigned exponent, Outcome &outcome) {
    const PkeyContext context(O(EVP_PKEY_CTX_new_from_name)(library.get(), type, properties));
    OSSL_PARAM params[] = {
        {OSSL_PKEY_PARAM_RSA_BITS, OSSL_PARAM_UNSIGNED_INTEGER, &bits, sizeof bits, 0},
        {OSSL_PKEY_PARAM_RSA_PRIMES, OSSL_PARAM_UNSIGNED_INTEGER, &primes, sizeof primes, 0},
        {OSSL_PKEY_PARAM_RSA_E, OSSL_PARAM_UNSIGNED_INTEGER, &exponent, sizeof exponent, 0},
        OSSL_PARAM_END};
    int result = O(EVP_PKEY_keygen_init)(context.get());
    static int calls;
    calls = 0;
    O(EVP_PKEY_CTX_set_cb)
    (context.get(), [](EVP_PKEY_CTX *) {
      ++calls;
      return 1;
    });
    if (result == 1) result = O(EVP_PKEY_CTX_set_params)(context.get(), params);
    EVP_PKEY *made = nullptr;
    if (result == 1) result = O(EVP_PKEY_generate)(context.get(), &made);
    const Pkey key(made);
    outcome.out_bytes = made == nullptr ? 0 : O(EVP_PKEY_get_bits)(made);
    if (result != 1) return result;
    EXPECT_GT(calls, 0);
    const PkeyContext check = context_for(library, made, properties);
    EXPECT_EQ(1, O(EVP_PKEY_check)(check.get()));
    outcome.out = exported_by(made, EVP_PKEY_KEYPAIR)[OSSL_PKEY_PARAM_RSA_E];
    return result;
  };
  const KeyTwins none;
  for (const char *type : {"RSA", "RSA-PSS"})
    for (const auto &[bits, primes, exponent] : {std::tuple{1024u, 2u, 65537u},
                                                 {1031u, 2u, 3u},
                                                 {1536u, 3u, 65537u},
                                                 {100u, 2u, 65537u},
                                                 {1024u, 2u, 4u},
                                                 {1024u, 2u, 1u},
                                                 {1024u, 7u, 65537u},
                                                 {512u, 2u, 17u}})
      EXPECT_EQ("", compare(none,
                            [&, bits = bits, primes = primes, exponent = exponent](
                                EVP_PKEY *, const char *properties, Outcome &outcome) {
                              return generate(type, properties, bits, primes, exponent, outcome);
                            }))
          << type << " " << bits << " " << primes << " " << exponent;
  // The settable parameters of a key generation.
  for (const char *type : {"RSA", "RSA-PSS"}) {
    std::string names[2];
    for (int side : {0, 1}) {
      const PkeyContext context(
          O(EVP_PKEY_CTX_new_from_name)(library.get(), type, kProperties[side]));
      EXPECT_EQ(1, O(EVP_PKEY_keygen_init)(context.get()));
      const OSSL_PARAM *settable = O(EVP_PKEY_CTX_settable_params)(context.get());
      for (; settable != nullptr && settable->key != nullptr; ++settable)
        names[side] += settable->key + std::string(" ");
    }
    EXPECT_EQ(names[0], names[1]);
    EXPECT_NE("", names[1]);
  }
}

// After a length was refused, neither provider generates a key, of any length. Both generate one
// after a valid length is set.
TEST_F(RsaKeys, NoneAfterARefusedLength) {
  for (const char *type : {"RSA", "RSA-PSS"})
    for (const bool mended : {false, true}) {
      Outcome common;
      EXPECT_EQ("", compare(
                        {},
                        [&](EVP_PKEY *, const char *properties, Outcome &outcome) {
                          const PkeyContext context(
                              O(EVP_PKEY_CTX_new_from_name)(library.get(), type, properties));
                          EXPECT_EQ(1, O(EVP_PKEY_keygen_init)(context.get()));
                          for (unsigned bits : {511u, 1024u}) {
                            if (bits == 1024 && !mended) break;
                            OSSL_PARAM params[] = {
                                {OSSL_PKEY_PARAM_RSA_BITS, OSSL_PARAM_UNSIGNED_INTEGER, &bits,
                                 sizeof bits, 0},
                                OSSL_PARAM_END};
                            const int set = O(EVP_PKEY_CTX_set_params)(context.get(), params);
                            EXPECT_EQ(bits == 1024, set == 1);
                          }
                          EVP_PKEY *made = nullptr;
                          const int result = O(EVP_PKEY_generate)(context.get(), &made);
                          const Pkey key(made);
                          outcome.out_bytes = made == nullptr ? 0 : O(EVP_PKEY_get_bits)(made);
                          return result;
                        },
                        &common))
          << type;
      EXPECT_EQ(mended ? 1024 : 0, common.out_bytes);
    }
}

// shown() returns a key as text, by one of EVP_PKEY_print_*().
auto shown(decltype(&EVP_PKEY_print_params) print, int indent) {
  return [=](EVP_PKEY *pkey, const char *, Outcome &outcome) {
    BIO *memory = O(BIO_new)(O(BIO_s_mem)());
    const int result = print(memory, pkey, indent, nullptr);
    outcome.out.resize(8192);
    outcome.out_bytes = O(BIO_read)(memory, outcome.out.data(), int(outcome.out.size()));
    outcome.out.resize(size_t(std::max(outcome.out_bytes, 0)));
    O(BIO_free)(memory);
    return result;
  };
}

// A key's parameters without its numbers: as text, which OpenSSL's encoders cannot make of another
// provider's key, and in other calls.
TEST_F(RsaKeys, ParametersAlone) {
  std::vector<KeyTwins> keys;
  keys.push_back(make_key_twins(library, "RSA", 1024));
  keys.push_back(make_key_twins(library, "RSA-PSS", 1024));
  keys.push_back(restricted_key());
  keys.push_back(copy_key_twins(library, "RSA", keys[0], EVP_PKEY_PUBLIC_KEY));
  for (const KeyTwins &key : keys) {
    Outcome common;
    for (const int indent : {0, 7})
      EXPECT_EQ("", compare(key, shown(O(EVP_PKEY_print_params), indent), &common));
    EXPECT_EQ(1, common.result);
    EXPECT_FALSE(common.out.empty());
    for (const auto print : {O(EVP_PKEY_print_public), O(EVP_PKEY_print_private)})
      EXPECT_EQ("", compare(key, shown(print, 0)));
    EXPECT_EQ("", compare(key, [&](EVP_PKEY *pkey, const char *, Outcome &outcome) {
                const Pkey empty(O(EVP_PKEY_new)());
                const int copied = O(EVP_PKEY_copy_parameters)(empty.get(), pkey);
                outcome.out_bytes = O(EVP_PKEY_missing_parameters)(pkey);
                return copied;
              }));
  }
  // A key without a modulus cannot be printed.
  const KeyTwins bare = copy_key_twins(library, "RSA-PSS", keys[2], EVP_PKEY_KEY_PARAMETERS);
  BIO *memory = O(BIO_new)(O(BIO_s_mem)());
  EXPECT_EQ(0, O(EVP_PKEY_print_params)(memory, bare.sides[1].get(), 0, nullptr));
  O(BIO_free)(memory);
  take_errors();
}

// generate_key() generates a key with our provider, through OpenSSL's core.
Pkey generate_key(Library &library, const char *type, unsigned bits, EVP_PKEY_gen_cb *callback) {
  const PkeyContext context(O(EVP_PKEY_CTX_new_from_name)(library.get(), type, "provider=gpu"));
  OSSL_PARAM params[] = {
      {OSSL_PKEY_PARAM_RSA_BITS, OSSL_PARAM_UNSIGNED_INTEGER, &bits, sizeof bits, 0},
      OSSL_PARAM_END};
  EXPECT_EQ(1, O(EVP_PKEY_keygen_init)(context.get()));
  EXPECT_EQ(1, O(EVP_PKEY_CTX_set_params)(context.get(), params));
  O(EVP_PKEY_CTX_set_cb)(context.get(), callback);
  EVP_PKEY *made = nullptr;
  const int result = O(EVP_PKEY_generate)(context.get(), &made);
  EXPECT_EQ(made != nullptr, result == 1);
  return Pkey(made);
}

TEST_F(RsaKeys, DevicesMakeThem) {
  for (const char *type : {"RSA", "RSA-PSS"}) {
    const uint64_t before = library.counter("lanecrypt.rsa-device-keys");
    const Pkey key = generate_key(library, type, 1024, nullptr);
    ASSERT_NE(nullptr, key) << take_error_texts();
    EXPECT_EQ(before + 1, library.counter("lanecrypt.rsa-device-keys"));
    EXPECT_EQ(1, O(EVP_PKEY_is_a)(key.get(), type));
    EXPECT_EQ(1024, O(EVP_PKEY_get_bits)(key.get()));
    const PkeyContext check = context_for(library, key.get(), "provider=default");
    EXPECT_EQ(1, O(EVP_PKEY_check)(check.get())) << take_error_texts();
  }
  // OpenSSL generates the keys that devices do not generate.
  const uint64_t before = library.counter("lanecrypt.rsa-cpu-keys");
  EXPECT_NE(nullptr, generate_key(library, "RSA", 512, nullptr));
  EXPECT_EQ(before + 1, library.counter("lanecrypt.rsa-cpu-keys"));
  EXPECT_EQ(2u, library.counter("lanecrypt.rsa-device-keys"));
  EXPECT_EQ(0u, library.counter("lanecrypt.rsa-failures"));
}

// Keys may also use primes from earlier searches. No two keys are the same.
TEST_F(RsaKeys, PrimesMayBeKept) {
  Library keeping({{"devices", rsa_devices()}, {"rsa", "always"}, {"prime_pool", "64"}});
  ASSERT_TRUE(keeping.is_ready()) << keeping.errors();
  std::set<Bytes> primes;
  for (int n = 0; n < 4; ++n) {
    const Pkey key = generate_key(keeping, "RSA", 1024, nullptr);
    ASSERT_NE(nullptr, key) << take_error_texts();
    const PkeyContext check = context_for(keeping, key.get(), "provider=default");
    EXPECT_EQ(1, O(EVP_PKEY_check)(check.get())) << take_error_texts();
    const auto numbers = exported_by(key.get(), EVP_PKEY_KEYPAIR);
    for (const char *name : {OSSL_PKEY_PARAM_RSA_FACTOR1, OSSL_PKEY_PARAM_RSA_FACTOR2})
      EXPECT_TRUE(primes.insert(numbers.at(name)).second) << "a prime used twice";
  }
  EXPECT_EQ(8u, primes.size());
  EXPECT_EQ(4u, keeping.counter("lanecrypt.rsa-device-keys"));
}

TEST_F(RsaKeys, ACallbackStopsThem) {
  EXPECT_EQ(nullptr, generate_key(library, "RSA", 1024, [](EVP_PKEY_CTX *) { return 0; }));
  take_errors();
  EXPECT_EQ(0u, library.counter("lanecrypt.rsa-device-keys"));
  EXPECT_EQ(0u, library.counter("lanecrypt.rsa-cpu-keys"));
  EXPECT_EQ(0u, library.counter("lanecrypt.rsa-failures"));
}

TEST_F(RsaKeys, WithoutADevice) {
  Library none({{"devices", "none"}, {"rsa", "always"}});
  ASSERT_TRUE(none.is_ready()) << none.errors();
  EXPECT_NE(nullptr, generate_key(none, "RSA", 1024, nullptr));
  EXPECT_EQ(1u, none.counter("lanecrypt.rsa-cpu-keys"));
  EXPECT_EQ(0u, none.counter("lanecrypt.rsa-failures"));
  Library required({{"devices", "none"}, {"require_gpu", "yes"}});
  ASSERT_TRUE(required.is_ready()) << required.errors();
  EXPECT_EQ(nullptr, generate_key(required, "RSA", 1024, nullptr));
  EXPECT_NE(std::string::npos, take_error_texts().find("no usable device"));
  EXPECT_EQ(0u, required.counter("lanecrypt.rsa-cpu-keys"));
}

// No device is opened for one short key.
TEST_F(RsaKeys, TheFirstAreMadeByTheCpu) {
  setenv("LANECRYPT_HOST_SUBGROUPS", "1", 1);
  Library by_choice(Settings{{"devices", "host"}});
  ASSERT_TRUE(by_choice.is_ready()) << by_choice.errors();
  for (int n = 0; n < 2; ++n) EXPECT_NE(nullptr, generate_key(by_choice, "RSA", 1024, nullptr));
  EXPECT_EQ(2u, by_choice.counter("lanecrypt.rsa-cpu-keys"));
  EXPECT_EQ("[]", by_choice.text_param("lanecrypt.devices")) << "devices were looked for";
  // A device generates later keys, once it is open.
  for (int n = 0; n < 2000 && by_choice.counter("lanecrypt.rsa-device-keys") == 0; ++n)
    EXPECT_NE(nullptr, generate_key(by_choice, "RSA", 1024, nullptr));
  EXPECT_EQ(1u, by_choice.counter("lanecrypt.rsa-device-keys"));
  unsetenv("LANECRYPT_HOST_SUBGROUPS");
}

// A device on which each number has one thread generates no single key, however long, unless it is
// forced to.
TEST_F(RsaKeys, SingleThreadsMakeNoSingleKeys) {
  Library by_choice(Settings{{"devices", "host"}});
  ASSERT_TRUE(by_choice.is_ready()) << by_choice.errors();
  for (const unsigned bits : {1024u, 1024u, 1024u, 1024u, 4096u})
    EXPECT_NE(nullptr, generate_key(by_choice, "RSA", bits, nullptr));
  EXPECT_EQ(5u, by_choice.counter("lanecrypt.rsa-cpu-keys"));
  EXPECT_EQ(0u, by_choice.counter("lanecrypt.rsa-device-keys"));
  EXPECT_EQ(0u, by_choice.counter("lanecrypt.rsa-failures"));
  const std::string devices = by_choice.text_param("lanecrypt.devices");
  EXPECT_TRUE(devices == "[]" || devices.find("\"jobs\": 0") != std::string::npos) << devices;
  Library told(Settings{{"devices", "host"}, {"rsa", "always"}});
  ASSERT_TRUE(told.is_ready()) << told.errors();
  EXPECT_NE(nullptr, generate_key(told, "RSA", 1024, nullptr));
  EXPECT_EQ(1u, told.counter("lanecrypt.rsa-device-keys"));
}

// OpenSSL's encoders and decoders write and read our keys as PEM.
TEST_F(RsaKeys, AsFiles) {
  for (const char *type : {"RSA", "RSA-PSS"}) {
    const KeyTwins key = make_key_twins(library, type, 1024);
    std::string texts[2];
    for (int side : {0, 1}) {
      BIO *memory = O(BIO_new)(O(BIO_s_mem)());
      EXPECT_EQ(1, O(PEM_write_bio_PrivateKey_ex)(memory, key.sides[side].get(), nullptr, nullptr,
                                                  0, nullptr, nullptr, library.get(), nullptr))
          << take_error_texts();
      char buffer[8192];
      const int bytes = O(BIO_read)(memory, buffer, sizeof buffer);
      texts[side].assign(buffer, bytes > 0 ? size_t(bytes) : 0);
      O(BIO_free)(memory);
    }
    EXPECT_EQ(texts[0], texts[1]);
    BIO *memory = O(BIO_new_mem_buf)(texts[1].data(), int(texts[1].size()));
    const Pkey read(O(PEM_read_bio_PrivateKey_ex)(memory, nullptr, nullptr, nullptr, library.get(),
                                                  kProperties[1]));
    O(BIO_free)(memory);
    ASSERT_NE(nullptr, read) << take_error_texts();
    EXPECT_EQ(1, O(EVP_PKEY_eq)(read.get(), key.sides[0].get()));
    if (std::strcmp(type, "RSA") != 0) continue;  // RSA-PSS signs only with a digest
    // Whichever provider has the key now, the preferred provider signs.
    const uint64_t before = rsa_jobs(library);
    const PkeyContext context = context_for(library, read.get(), kProperties[1]);
    Bytes signature(128), digest(20);
    size_t bytes = signature.size();
    EXPECT_EQ(1, O(EVP_PKEY_sign_init)(context.get()));
    EXPECT_EQ(1, O(EVP_PKEY_sign)(context.get(), signature.data(), &bytes, digest.data(), 20));
    EXPECT_EQ(before + 1, rsa_jobs(library));
  }
}

TEST_F(RsaKeys, RsaCanBeLeftOut) {
  Library off({{"devices", "host"}, {"rsa", "off"}});
  ASSERT_TRUE(off.is_ready()) << off.errors();
  EXPECT_EQ(nullptr, O(EVP_SIGNATURE_fetch)(off.get(), "RSA", "provider=gpu"));
  EXPECT_EQ(nullptr, O(EVP_KEYMGMT_fetch)(off.get(), "RSA", "provider=gpu"));
  take_errors();
}

TEST_F(RsaKeys, WithoutTheDefaultProvider) {
  Library alone({{"devices", "host"}}, false);
  ASSERT_TRUE(alone.is_ready()) << alone.errors();
  const PkeyContext context(O(EVP_PKEY_CTX_new_from_name)(alone.get(), "RSA", nullptr));
  EVP_PKEY *key = nullptr;
  ASSERT_EQ(1, O(EVP_PKEY_keygen_init)(context.get())) << take_error_texts();
  ASSERT_EQ(1, O(EVP_PKEY_generate)(context.get(), &key)) << take_error_texts();
  const Pkey owner(key);
  const PkeyContext signing = context_for(alone, key, nullptr);
  Bytes signature(256), digest(32);
  size_t bytes = signature.size();
  ASSERT_EQ(1, O(EVP_PKEY_sign_init)(signing.get()));
  ASSERT_EQ(1, O(EVP_PKEY_sign)(signing.get(), signature.data(), &bytes, digest.data(), 32))
      << take_error_texts();
}

}  // namespace
}  // namespace provider_test
