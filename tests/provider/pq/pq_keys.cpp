// Tests that keys that pass through the provider are the same as without it, in every format and
// with every setting of the default provider. A loaded key is ours at once: it is not imported a
// second time.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/pq/pq_keys.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

namespace provider_test {
namespace {

using Shown = std::map<std::string, Bytes>;

const char *const kSides[] = {"provider=default", "provider=gpu"};

Bytes counting(size_t bytes) {
  Bytes made(bytes);
  std::iota(made.begin(), made.end(), uint8_t{0});
  return made;
}

// shown() returns everything that a program can read of a key.
Shown shown(EVP_PKEY *key) {
  Shown all;
  for (const int selection : {EVP_PKEY_KEYPAIR, EVP_PKEY_PUBLIC_KEY}) {
    OSSL_PARAM *params = nullptr;
    const std::string of = selection == EVP_PKEY_KEYPAIR ? "pair " : "public ";
    if (O(EVP_PKEY_todata)(key, selection, &params) != 1) all[of + "refused"] = {};
    for (const OSSL_PARAM *param = params; param != nullptr && param->key != nullptr; ++param) {
      const auto *data = static_cast<const uint8_t *>(param->data);
      all[of + param->key] = Bytes(data, data + param->data_size);
    }
    O(OSSL_PARAM_free)(params);
  }
  for (const char *name : {"seed", OSSL_PKEY_PARAM_PRIV_KEY, OSSL_PKEY_PARAM_PUB_KEY}) {
    Bytes value(20000);
    size_t bytes = 0;
    if (O(EVP_PKEY_get_octet_string_param)(key, name, value.data(), value.size(), &bytes) != 1)
      continue;
    value.resize(bytes);
    all[std::string("param ") + name] = value;
  }
  for (const char *output : {"DER", "PEM"}) {
    all[std::string("private ") + output] =
        written(key, EVP_PKEY_KEYPAIR, output, "PrivateKeyInfo");
    all[std::string("open ") + output] =
        written(key, EVP_PKEY_PUBLIC_KEY, output, "SubjectPublicKeyInfo");
    all[std::string("whole ") + output] = written(key, EVP_PKEY_KEYPAIR, output, nullptr);
  }
  all["text of parameters"] = written(key, EVP_PKEY_KEY_PARAMETERS, "TEXT", nullptr);
  all["text of private"] = written(key, EVP_PKEY_KEYPAIR, "TEXT", nullptr);
  all["text of public"] = written(key, EVP_PKEY_PUBLIC_KEY, "TEXT", nullptr);
  take_errors();
  return all;
}

std::string difference(const Pkey &ours, const Pkey &theirs) {
  if (ours == nullptr || theirs == nullptr)
    return (ours == nullptr) == (theirs == nullptr) ? "" : "one side makes no key";
  const Shown a = shown(theirs.get()), b = shown(ours.get());
  for (const auto &[name, value] : a) {
    if (!b.contains(name)) return name + " is missing";
    if (b.at(name) != value)
      return name + ": " + std::to_string(b.at(name).size()) + " bytes, and " +
             std::to_string(value.size()) + " without us";
  }
  for (const auto &[name, value] : b)
    if (!a.contains(name)) return name + " is too much";
  return "";
}

std::string difference_with_copies(const Pkey &ours, const Pkey &theirs) {
  std::string found = difference(ours, theirs);
  if (!found.empty() || ours == nullptr) return found;
  if (O(EVP_PKEY_eq)(ours.get(), theirs.get()) != 1) return "the keys are not equal";
  const Pkey copies[] = {Pkey(O(EVP_PKEY_dup)(theirs.get())), Pkey(O(EVP_PKEY_dup)(ours.get()))};
  if (copies[1] != nullptr && O(EVP_PKEY_eq)(copies[1].get(), ours.get()) != 1)
    return "a copy is not equal";
  found = difference(copies[1], copies[0]);
  return found.empty() ? "" : "of copies: " + found;
}

struct Try {
  const char *name;
  Settings settings;
};
const Try kTries[] = {
    {"defaults", {}},
    {"NoPreference", {{"ml-dsa.prefer_seed", "no"}}},
    {"NoSeed", {{"ml-dsa.retain_seed", "no"}}},
    {"Neither", {{"ml-dsa.retain_seed", "no"}, {"ml-dsa.prefer_seed", "no"}}},
    {"SeedOnly", {{"ml-dsa.output_formats", "seed-only"}, {"ml-dsa.prefer_seed", "no"}}},
    {"BareSeed", {{"ml-dsa.output_formats", "bare-seed"}}},
    {"PrivateOnly", {{"ml-dsa.output_formats", "priv-only"}, {"ml-dsa.prefer_seed", "no"}}},
    {"Keypair", {{"ml-dsa.output_formats", "oqskeypair,seed-priv"}, {"ml-dsa.retain_seed", "no"}}},
    {"Inputs", {{"ml-dsa.input_formats", "priv-only"}, {"ml-dsa.prefer_seed", "no"}}},
};

class PqKeys : public testing::TestWithParam<Try> {
 protected:
  void SetUp() override {
    if (!has_pq()) GTEST_SKIP() << "this OpenSSL has neither family";
    ASSERT_TRUE(library.is_ready()) << library.errors();
  }
  Library library{Settings{{"in_process", "no"}}, true, GetParam().settings};
};

TEST_P(PqKeys, OfASeed) {
  const struct {
    const char *type;
    size_t seed_bytes;
  } types[] = {{"ML-DSA-44", 32},
               {"ML-DSA-65", 32},
               {"ML-DSA-87", 32},
               {"SLH-DSA-SHA2-128f", 48},
               {"SLH-DSA-SHAKE-128f", 48}};
  for (const auto &[type, bytes] : types) {
    Pkey keys[2];
    for (int side = 0; side < 2; ++side) {
      keys[side] = generate(library, type, kSides[side], counting(bytes));
      ASSERT_NE(nullptr, keys[side]) << type << take_error_texts();
    }
    EXPECT_EQ("", difference_with_copies(keys[1], keys[0])) << type;
  }
}

TEST_P(PqKeys, OfParts) {
  for (const char *type : {"ML-DSA-44", "SLH-DSA-SHA2-128f"}) {
    // The key comes from a library without these settings, so that it has all of its parts.
    Library plain(Settings{{"in_process", "no"}});
    const bool is_ml_dsa = type[0] == 'M';
    const Pkey whole = generate(plain, type, "provider=default", counting(is_ml_dsa ? 32 : 48));
    ASSERT_NE(nullptr, whole);
    OSSL_PARAM *all = nullptr;
    ASSERT_EQ(1, O(EVP_PKEY_todata)(whole.get(), EVP_PKEY_KEYPAIR, &all));
    size_t count = 0;
    while (all[count].key != nullptr) ++count;
    ASSERT_EQ(is_ml_dsa ? 3u : 2u, count);
    for (unsigned which = 0; which < 1u << count; ++which)
      for (const int selection : {EVP_PKEY_KEYPAIR, EVP_PKEY_PUBLIC_KEY}) {
        std::vector<OSSL_PARAM> params;
        for (size_t n = 0; n < count; ++n)
          if ((which >> n & 1) != 0) params.push_back(all[n]);
        params.push_back(OSSL_PARAM OSSL_PARAM_END);
        Pkey keys[2];
        for (int side = 0; side < 2; ++side)
          keys[side] = key_from(library, type, kSides[side], selection, params.data());
        EXPECT_EQ("", difference_with_copies(keys[1], keys[0]))
            << type << ", parts " << which << ", selection " << selection;
        take_errors();
      }
    O(OSSL_PARAM_free)(all);
  }
}

// A file is read in the same way by both providers, in whichever format it was written.
TEST_P(PqKeys, OfFiles) {
  ASSERT_EQ(1, O(EVP_set_default_properties)(library.get(), "?provider=gpu"));
  for (const char *form :
       {"seed-priv", "priv-only", "oqskeypair", "seed-only", "bare-priv", "bare-seed"}) {
    Library writer(Settings{{"in_process", "no"}}, true, {{"ml-dsa.output_formats", form}});
    const Pkey key = generate(writer, "ML-DSA-44", "provider=default", counting(32));
    ASSERT_NE(nullptr, key);
    const std::pair<Bytes, const char *> files[] = {
        {written(key.get(), EVP_PKEY_KEYPAIR, "DER", "PrivateKeyInfo"), "DER"},
        {written(key.get(), EVP_PKEY_KEYPAIR, "PEM", "PrivateKeyInfo"), "PEM"},
        {written(key.get(), EVP_PKEY_PUBLIC_KEY, "DER", "SubjectPublicKeyInfo"), "DER"}};
    for (const auto &[file, input] : files) {
      const Pkey theirs = read_key(library, file, "provider=default", input),
                 ours = read_key(library, file, nullptr, input);
      EXPECT_EQ(theirs == nullptr ? "" : "gpu", provider_of(ours)) << form << " " << input;
      EXPECT_EQ("", difference_with_copies(ours, theirs)) << form << " " << input;
    }
  }
  take_errors();
}

INSTANTIATE_TEST_SUITE_P(Settings, PqKeys, testing::ValuesIn(kTries),
                         [](const auto &one) { return std::string(one.param.name); });

// A loaded key becomes ours only if its operations will be fetched from us.
TEST(PqLoading, GoesByTheProgramsPreference) {
  if (!has_pq()) GTEST_SKIP() << "this OpenSSL has neither family";
  Library library(Settings{{"in_process", "no"}});
  const Pkey key = generate(library, "ML-DSA-65", "provider=default");
  const Bytes file = written(key.get(), EVP_PKEY_KEYPAIR, "DER", "PrivateKeyInfo"),
              open = written(key.get(), EVP_PKEY_PUBLIC_KEY, "DER", "SubjectPublicKeyInfo");
  for (const Bytes *one : {&file, &open}) {
    EXPECT_EQ("default", provider_of(read_key(library, *one, nullptr)));
    EXPECT_EQ("default", provider_of(read_key(library, *one, "?provider=default")));
  }
  ASSERT_EQ(1, O(EVP_set_default_properties)(library.get(), "?provider=gpu"));
  for (const Bytes *one : {&file, &open}) {
    EXPECT_EQ("gpu", provider_of(read_key(library, *one, nullptr)));
    EXPECT_EQ("default", provider_of(read_key(library, *one, "provider=default")));
  }
  EXPECT_TRUE(take_errors().empty());
}

// Files without a valid key are refused as by OpenSSL.
TEST(PqLoading, RefusesAsWithoutUs) {
  if (!has_pq()) GTEST_SKIP() << "this OpenSSL has neither family";
  Library library(Settings{{"in_process", "no"}});
  const Pkey key = generate(library, "ML-DSA-44", "provider=default", counting(32));
  const Bytes file = written(key.get(), EVP_PKEY_KEYPAIR, "DER", "PrivateKeyInfo"),
              open = written(key.get(), EVP_PKEY_PUBLIC_KEY, "DER", "SubjectPublicKeyInfo");
  ASSERT_EQ(1, O(EVP_set_default_properties)(library.get(), "?provider=gpu"));
  std::vector<Bytes> wrong;
  for (const Bytes *one : {&file, &open}) {
    wrong.push_back(Bytes(one->begin(), one->end() - 1));
    wrong.push_back(Bytes(one->begin(), one->begin() + 40));
  }
  wrong.push_back(file);
  wrong.back()[60] ^= 1;  // a bit of the seed: the private key does not match it
  wrong.push_back(file);
  wrong.back()[2000] ^= 1;
  for (const Bytes &one : wrong) {
    take_errors();
    EXPECT_EQ(nullptr, read_key(library, one, "provider=default"));
    const std::vector<unsigned long> theirs = take_errors();
    EXPECT_EQ(nullptr, read_key(library, one, nullptr));
    EXPECT_EQ(theirs, take_errors());
  }
}

// RSA keys also lose nothing: with more than two primes, without the numbers that can be derived,
// and with the restrictions of an RSA-PSS key.
TEST(PqWriting, SurvivesACipherThatIsNotThere) {
  if (!has_pq()) GTEST_SKIP() << "this OpenSSL has neither family";
  Library library(Settings{{"in_process", "no"}});
  for (const char *side : kSides) {
    const Pkey key = generate(library, "ML-DSA-44", side, counting(32));
    ASSERT_NE(nullptr, key);
    OSSL_ENCODER_CTX *const context = O(OSSL_ENCODER_CTX_new_for_pkey)(
        key.get(), EVP_PKEY_PUBLIC_KEY, "PEM", "SubjectPublicKeyInfo", nullptr);
    ASSERT_NE(nullptr, context);
    EXPECT_EQ(0, O(OSSL_ENCODER_CTX_set_cipher)(context, "no-such-cipher", nullptr)) << side;
    unsigned char *text = nullptr;
    size_t bytes = 0;
    EXPECT_EQ(1, O(OSSL_ENCODER_to_data)(context, &text, &bytes)) << side;
    O(CRYPTO_free)(text, __FILE__, __LINE__);
    O(OSSL_ENCODER_CTX_free)(context);
    take_errors();
  }
}

TEST(RsaKeysAsWritten, AreWhole) {
  Library library(Settings{{"in_process", "no"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  for (const unsigned primes : {2u, 3u})
    for (const char *type : {"RSA", "RSA-PSS"}) {
      const PkeyContext context(
          O(EVP_PKEY_CTX_new_from_name)(library.get(), type, "provider=default"));
      unsigned bits = 2048;
      OSSL_PARAM wish[] = {
          {OSSL_PKEY_PARAM_RSA_BITS, OSSL_PARAM_UNSIGNED_INTEGER, &bits, sizeof bits, 0},
          {OSSL_PKEY_PARAM_RSA_PRIMES, OSSL_PARAM_UNSIGNED_INTEGER, const_cast<unsigned *>(&primes),
           sizeof primes, 0},
          OSSL_PARAM_END,
          OSSL_PARAM_END};
      char digest[] = "SHA384";
      if (type[3] == '-')
        wish[2] = {OSSL_PKEY_PARAM_RSA_DIGEST, OSSL_PARAM_UTF8_STRING, digest, 6, 0};
      EVP_PKEY *made = nullptr;
      ASSERT_EQ(1, O(EVP_PKEY_keygen_init)(context.get()));
      ASSERT_EQ(1, O(EVP_PKEY_CTX_set_params)(context.get(), wish)) << take_error_texts();
      ASSERT_EQ(1, O(EVP_PKEY_generate)(context.get(), &made)) << take_error_texts();
      const Pkey key(made);
      OSSL_PARAM *all = nullptr;
      ASSERT_EQ(1, O(EVP_PKEY_todata)(key.get(), EVP_PKEY_KEYPAIR, &all));
      for (const bool has_primes : {true, false}) {
        std::vector<OSSL_PARAM> params;
        for (const OSSL_PARAM *param = all; param->key != nullptr; ++param)
          if (has_primes || std::string(param->key).find("rsa-") == std::string::npos)
            params.push_back(*param);
        params.push_back(OSSL_PARAM OSSL_PARAM_END);
        Pkey keys[2];
        for (int side = 0; side < 2; ++side)
          keys[side] = key_from(library, type, kSides[side], EVP_PKEY_KEYPAIR, params.data());
        EXPECT_EQ("gpu", provider_of(keys[1])) << take_error_texts();
        EXPECT_EQ("", difference_with_copies(keys[1], keys[0]))
            << type << ", " << primes << " primes, " << (has_primes ? "with" : "without");
        for (int side = 0; side < 2; ++side) take_errors();
      }
      O(OSSL_PARAM_free)(all);
    }
}

}  // namespace
}  // namespace provider_test
