// Tests RSA signatures: every padding, digest and option, right and wrong. The provider must behave
// like OpenSSL.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>

#include "provider/random_input.h"
#include "provider/rsa/rsa_twins.h"

namespace provider_test {
namespace {

constexpr const char *kDigests[] = {
    "SHA1",       "SHA224",    "SHA256",   "SHA384",      "SHA512",   "SHA512-224",
    "SHA512-256", "SHA3-224",  "SHA3-256", "SHA3-384",    "SHA3-512", "MD5",
    "MD5-SHA1",   "RIPEMD160", "SM3",      "BLAKE2B-512", "SHAKE128", "NO-SUCH-DIGEST"};

struct Options {
  int padding = RSA_PKCS1_PADDING;
  std::string digest = {};  // "": none
  std::string mgf1_digest = {};
  bool set_salt = false;
  int salt = 0;
};

std::string text_of(const Options &options) {
  return "padding " + std::to_string(options.padding) + " digest " + options.digest + " mgf1 " +
         options.mgf1_digest + " salt " +
         (options.set_salt ? std::to_string(options.salt) : std::string("unset"));
}

// set_options() returns 1 if all options were accepted.
int set_options(EVP_PKEY_CTX *context, const Options &options) {
  OSSL_PARAM params[5];
  size_t count = 0;
  int padding = options.padding, salt = options.salt;
  params[count++] = {OSSL_SIGNATURE_PARAM_PAD_MODE, OSSL_PARAM_INTEGER, &padding, sizeof padding,
                     0};
  const auto add_text = [&](const char *name, const std::string &value) {
    if (!value.empty())
      params[count++] = {name, OSSL_PARAM_UTF8_STRING, const_cast<char *>(value.c_str()),
                         value.size(), 0};
  };
  add_text(OSSL_SIGNATURE_PARAM_DIGEST, options.digest);
  add_text(OSSL_SIGNATURE_PARAM_MGF1_DIGEST, options.mgf1_digest);
  if (options.set_salt)
    params[count++] = {OSSL_SIGNATURE_PARAM_PSS_SALTLEN, OSSL_PARAM_INTEGER, &salt, sizeof salt, 0};
  params[count] = OSSL_PARAM_END;
  return O(EVP_PKEY_CTX_set_params)(context, params);
}

class RsaSignatures : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    library = new Library({{"devices", rsa_devices()}, {"rsa", "always"}});
    ASSERT_TRUE(library->is_ready()) << library->errors();
    // 1025 bits: PSS needs one byte less than the modulus. 1030: six bits in the first byte.
    for (unsigned bits : {512u, 1024u, 1025u, 1030u, 2048u})
      keys.push_back(make_key_twins(*library, "RSA", bits));
  }
  static void TearDownTestSuite() {
    keys.clear();
    delete library;
  }
  // sign_both() signs with both providers. If the signature is randomised, each provider verifies
  // both.
  void sign_both(const KeyTwins &key, const Options &options, const Bytes &in, size_t room) {
    const bool is_random = options.padding == RSA_PKCS1_PSS_PADDING;
    Bytes made[2];
    int side = 0;
    const std::string difference =
        compare(key, [&](EVP_PKEY *pkey, const char *properties, Outcome &outcome) {
          const PkeyContext context = context_for(*library, pkey, properties);
          int result = O(EVP_PKEY_sign_init)(context.get());
          if (result == 1) result = set_options(context.get(), options);
          size_t bytes = 0;
          if (result == 1)
            result = O(EVP_PKEY_sign)(context.get(), nullptr, &bytes, in.data(), in.size());
          outcome.out_bytes = int(bytes);
          Bytes &out = made[side++];
          out.assign(room, 0x5A);
          bytes = room;
          if (result == 1)
            result = O(EVP_PKEY_sign)(context.get(), out.data(), &bytes, in.data(), in.size());
          if (result == 1) out.resize(bytes);
          if (!is_random) outcome.out = out;
          return result;
        });
    ASSERT_EQ("", difference) << text_of(options) << ", " << in.size() << " bytes, key of "
                              << key.bytes << ", room for " << room;
    if (!is_random || made[0].size() != key.bytes || room != key.bytes) return;
    for (const Bytes &signature : made) verify_both(key, options, signature, in);
  }
  void verify_both(const KeyTwins &key, const Options &options, const Bytes &signature,
                   const Bytes &in) {
    const std::string difference =
        compare(key, [&](EVP_PKEY *pkey, const char *properties, Outcome &outcome) {
          const PkeyContext context = context_for(*library, pkey, properties);
          int result = O(EVP_PKEY_verify_init)(context.get());
          if (result == 1) result = set_options(context.get(), options);
          if (result == 1)
            result = O(EVP_PKEY_verify)(context.get(), signature.data(), signature.size(),
                                        in.data(), in.size());
          (void)outcome;
          return result;
        });
    ASSERT_EQ("", difference) << text_of(options);
  }

  static Library *library;
  static std::vector<KeyTwins> keys;
  Random random{7};
  size_t digest_bytes(const std::string &name) {
    EVP_MD *digest = O(EVP_MD_fetch)(library->get(), name.c_str(), nullptr);
    const int bytes = digest == nullptr ? 0 : O(EVP_MD_get_size)(digest);
    O(EVP_MD_free)(digest);
    take_errors();
    return bytes > 0 ? size_t(bytes) : 20;
  }
};
Library *RsaSignatures::library;
std::vector<KeyTwins> RsaSignatures::keys;

TEST_F(RsaSignatures, EveryPaddingWithEveryDigest) {
  const uint64_t before = rsa_device_jobs(*library);
  for (const KeyTwins &key : keys)
    for (int padding : {RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING, RSA_X931_PADDING})
      for (const char *digest : kDigests)
        sign_both(key, {.padding = padding, .digest = digest, .mgf1_digest = ""},
                  random_bytes(random, digest_bytes(digest)), key.bytes);
  EXPECT_GT(rsa_device_jobs(*library), before + 100);
}

TEST_F(RsaSignatures, SaltLengths) {
  for (const KeyTwins &key : keys)
    for (const char *digest : {"SHA1", "SHA256", "SHA512"})
      for (const char *mgf1 : {"", "SHA1", "SHA384"}) {
        const int most = int(key.bytes) - int(digest_bytes(digest)) - 2;
        for (int salt : {-5, -4, -3, -2, -1, 0, 1, 20, 64, most - 1, most, most + 1})
          sign_both(key,
                    {.padding = RSA_PKCS1_PSS_PADDING,
                     .digest = digest,
                     .mgf1_digest = mgf1,
                     .set_salt = true,
                     .salt = salt},
                    random_bytes(random, digest_bytes(digest)), key.bytes);
      }
}

TEST_F(RsaSignatures, WithoutADigest) {
  for (const KeyTwins &key : keys)
    for (int padding : {RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING, RSA_X931_PADDING, RSA_NO_PADDING,
                        RSA_PKCS1_OAEP_PADDING, 99})
      for (size_t bytes :
           {size_t(0), size_t(1), size_t(20), key.bytes - 12, key.bytes - 11, key.bytes - 10,
            key.bytes - 3, key.bytes - 2, key.bytes - 1, key.bytes, key.bytes + 1}) {
        Bytes in = random_bytes(random, bytes);
        for (uint8_t top : {uint8_t(0), uint8_t(0xff), uint8_t(1)}) {
          if (!in.empty()) in[0] = top;
          sign_both(key, {.padding = padding, .digest = "", .mgf1_digest = ""}, in, key.bytes);
        }
      }
}

TEST_F(RsaSignatures, WrongLengths) {
  for (const KeyTwins &key : keys)
    for (int padding : {RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING, RSA_X931_PADDING})
      for (size_t in_bytes : {0, 19, 31, 32, 33, 64})
        for (size_t room : {size_t(0), key.bytes - 1, key.bytes, key.bytes + 7})
          sign_both(key, {.padding = padding, .digest = "SHA256", .mgf1_digest = ""},
                    random_bytes(random, in_bytes), room);
}

TEST_F(RsaSignatures, VerificationOfRightAndWrong) {
  for (const KeyTwins &key : keys)
    for (int padding :
         {RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING, RSA_X931_PADDING, RSA_NO_PADDING}) {
      const Options options{
          .padding = padding, .digest = padding == RSA_NO_PADDING ? "" : "SHA1", .mgf1_digest = ""};
      Bytes in = random_bytes(random, padding == RSA_NO_PADDING ? key.bytes : 20);
      in[0] = 0;
      Bytes signature(key.bytes);
      size_t bytes = signature.size();
      const PkeyContext context = context_for(*library, key.sides[1].get(), kProperties[1]);
      ASSERT_EQ(1, O(EVP_PKEY_sign_init)(context.get()));
      ASSERT_EQ(1, set_options(context.get(), options));
      // X9.31 needs the highest bits of the first byte.
      if (padding == RSA_X931_PADDING && O(EVP_PKEY_get_bits)(key.sides[0].get()) % 8 != 0)
        continue;
      ASSERT_EQ(1, O(EVP_PKEY_sign)(context.get(), signature.data(), &bytes, in.data(), in.size()))
          << take_error_texts();
      verify_both(key, options, signature, in);
      for (int change = 0; change < 8; ++change) {
        Bytes wrong = signature;
        wrong[random() % wrong.size()] ^= uint8_t(1 << change);
        verify_both(key, options, wrong, in);
        Bytes other = in;
        other[random() % other.size()] ^= uint8_t(1 << change);
        verify_both(key, options, signature, other);
      }
      signature.pop_back();
      verify_both(key, options, signature, in);
      verify_both(key, options, {}, in);
    }
}

TEST_F(RsaSignatures, Recovery) {
  for (const KeyTwins &key : keys)
    for (int padding : {RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING, RSA_X931_PADDING, RSA_NO_PADDING})
      for (const char *digest : {"", "SHA1", "SHA256"}) {
        const Options options{.padding = padding, .digest = digest, .mgf1_digest = ""};
        Bytes in = random_bytes(random, *digest == '\0' ? 17 : digest_bytes(digest));
        if (padding == RSA_NO_PADDING) in.assign(key.bytes, 3);
        for (bool spoil : {false, true})
          EXPECT_EQ("", compare(key,
                                [&](EVP_PKEY *pkey, const char *properties, Outcome &outcome) {
                                  PkeyContext context = context_for(*library, pkey, properties);
                                  Bytes signature(key.bytes, 1);
                                  size_t bytes = signature.size();
                                  int result = O(EVP_PKEY_sign_init)(context.get());
                                  if (result == 1) result = set_options(context.get(), options);
                                  if (result == 1)
                                    result = O(EVP_PKEY_sign)(context.get(), signature.data(),
                                                              &bytes, in.data(), in.size());
                                  if (spoil) signature[key.bytes / 2] ^= 0x40;
                                  context = context_for(*library, pkey, properties);
                                  result = O(EVP_PKEY_verify_recover_init)(context.get());
                                  if (result == 1) result = set_options(context.get(), options);
                                  outcome.out.assign(key.bytes, 0x5A);
                                  bytes = outcome.out.size();
                                  if (result == 1)
                                    result = O(EVP_PKEY_verify_recover)(
                                        context.get(), outcome.out.data(), &bytes, signature.data(),
                                        key.bytes);
                                  outcome.out_bytes = int(bytes);
                                  return result;
                                }))
              << text_of(options) << (spoil ? " spoiled" : "");
      }
}

// EVP_DigestSign and EVP_DigestVerify: in pieces, with a copied context, with the default digest
// and a named one, and with parameters that may not be set then.
TEST_F(RsaSignatures, Messages) {
  const Bytes message = random_bytes(random, 100001);
  for (const KeyTwins &key : keys)
    for (const char *digest :
         {(const char *)nullptr, "SHA1", "sha384", "SHA2-512", "SHAKE256", "NO-SUCH-DIGEST"})
      for (bool pss : {false, true}) {
        Bytes signatures[2];
        int side = 0;
        const std::string difference = compare(key, [&](EVP_PKEY *pkey, const char *properties,
                                                        Outcome &outcome) {
          Bytes &signature = signatures[side++];
          EVP_MD_CTX *context = O(EVP_MD_CTX_new)();
          EVP_PKEY_CTX *inner = nullptr;
          int result = O(EVP_DigestSignInit_ex)(context, &inner, digest, library->get(), properties,
                                                pkey, nullptr);
          if (result == 1 && pss)
            result = set_options(
                inner, {.padding = RSA_PKCS1_PSS_PADDING, .digest = "", .mgf1_digest = "SHA256"});
          if (result == 1) {
            // Only the same digest may be set now.
            for (const char *other : {"SHA224", digest == nullptr ? "SHA256" : digest}) {
              OSSL_PARAM params[] = {{OSSL_SIGNATURE_PARAM_DIGEST, OSSL_PARAM_UTF8_STRING,
                                      const_cast<char *>(other), std::strlen(other), 0},
                                     OSSL_PARAM_END};
              outcome.out.push_back(uint8_t(O(EVP_PKEY_CTX_set_params)(inner, params)));
            }
            const OSSL_PARAM *settable = O(EVP_PKEY_CTX_settable_params)(inner);
            for (; settable != nullptr && settable->key != nullptr; ++settable)
              outcome.out.insert(outcome.out.end(), settable->key,
                                 settable->key + std::strlen(settable->key));
          }
          if (result == 1) result = O(EVP_DigestUpdate)(context, message.data(), 50000);
          if (result == 1) {
            EVP_MD_CTX *copy = O(EVP_MD_CTX_new)();
            result = O(EVP_MD_CTX_copy_ex)(copy, context);
            uint8_t rubbish[100] = {};
            O(EVP_DigestSignUpdate)(context, rubbish, sizeof rubbish);
            O(EVP_MD_CTX_free)(context);
            context = copy;
          }
          if (result == 1)
            result =
                O(EVP_DigestSignUpdate)(context, message.data() + 50000, message.size() - 50000);
          size_t bytes = 0;
          if (result == 1) result = O(EVP_DigestSignFinal)(context, nullptr, &bytes);
          outcome.out_bytes = int(bytes);
          signature.assign(key.bytes, 0);
          bytes = signature.size();
          if (result == 1) result = O(EVP_DigestSignFinal)(context, signature.data(), &bytes);
          if (result == 1 && !pss)
            outcome.out.insert(outcome.out.end(), signature.begin(), signature.end());
          O(EVP_MD_CTX_free)(context);
          return result;
        });
        ASSERT_EQ("", difference) << (digest == nullptr ? "default" : digest) << " pss " << pss
                                  << " key of " << key.bytes;
        for (const Bytes &signature : signatures)
          for (bool spoil : {false, true})
            ASSERT_EQ(
                "", compare(key, [&](EVP_PKEY *pkey, const char *properties, Outcome &) {
                  EVP_MD_CTX *context = O(EVP_MD_CTX_new)();
                  EVP_PKEY_CTX *inner = nullptr;
                  Bytes text = message;
                  if (spoil) text[3] ^= 1;
                  int result = O(EVP_DigestVerifyInit_ex)(context, &inner, digest, library->get(),
                                                          properties, pkey, nullptr);
                  if (result == 1 && pss)
                    result = set_options(
                        inner,
                        {.padding = RSA_PKCS1_PSS_PADDING, .digest = "", .mgf1_digest = "SHA256"});
                  if (result == 1)
                    result = O(EVP_DigestVerifyUpdate)(context, text.data(), text.size());
                  if (result == 1)
                    result = O(EVP_DigestVerifyFinal)(context, signature.data(), signature.size());
                  O(EVP_MD_CTX_free)(context);
                  return result;
                }));
      }
}

// After a caller has queried the length, another digest may be set, with which the message then
// ends.
TEST_F(RsaSignatures, ADigestSetTooLate) {
  for (const char *late : {"SHA512", "SHA256", "NO-SUCH-DIGEST"})
    EXPECT_EQ(
        "", compare(keys[1],
                    [&](EVP_PKEY *pkey, const char *properties, Outcome &outcome) {
                      EVP_MD_CTX *context = O(EVP_MD_CTX_new)();
                      EVP_PKEY_CTX *inner = nullptr;
                      size_t bytes = 0;
                      EXPECT_EQ(1,
                                O(EVP_DigestSignInit_ex)(context, &inner, "SHA256", library->get(),
                                                         properties, pkey, nullptr));
                      EXPECT_EQ(1, O(EVP_DigestSignUpdate)(context, "a", 1));
                      EXPECT_EQ(1, O(EVP_DigestSignFinal)(context, nullptr, &bytes));
                      OSSL_PARAM params[] = {{OSSL_SIGNATURE_PARAM_DIGEST, OSSL_PARAM_UTF8_STRING,
                                              const_cast<char *>(late), std::strlen(late), 0},
                                             OSSL_PARAM_END};
                      outcome.out_bytes = O(EVP_PKEY_CTX_set_params)(inner, params);
                      outcome.out.push_back(uint8_t(O(EVP_DigestSignUpdate)(context, "b", 1)));
                      Bytes signature(bytes);
                      const int result = O(EVP_DigestSignFinal)(context, signature.data(), &bytes);
                      if (result == 1)
                        outcome.out.insert(outcome.out.end(), signature.begin(), signature.end());
                      O(EVP_MD_CTX_free)(context);
                      return result;
                    }))
        << late;
}

// Every parameter of a context, before and after options were set.
TEST_F(RsaSignatures, Parameters) {
  for (const Options &options :
       {Options{},
        Options{.padding = RSA_PKCS1_PSS_PADDING,
        .digest = "SHA384",
        .mgf1_digest = "SHA1",
        .set_salt = true,
        .salt = 11},
        Options{.padding = RSA_X931_PADDING, .digest = "SHA1", .mgf1_digest = ""},
        Options{.padding = RSA_PKCS1_PADDING, .digest = "SHA1", .mgf1_digest = "SHA1"}})
    EXPECT_EQ(
        "",
        compare(
            keys[1],
            [&](EVP_PKEY *pkey, const char *properties, Outcome &outcome) {
              const PkeyContext context = context_for(*library, pkey, properties);
              const int began = O(EVP_PKEY_sign_init)(context.get());
              outcome.out_bytes = set_options(context.get(), options);
              const PkeyContext copy(O(EVP_PKEY_CTX_dup)(context.get()));
              for (EVP_PKEY_CTX *each : {context.get(), copy.get()}) {
                char padding[64] = "", digest[64] = "", mgf1[64] = "", salt[64] = "";
                uint8_t identifier[256] = {};
                int padding_number = 0, salt_number = 0;
                OSSL_PARAM params[] = {
                    {OSSL_SIGNATURE_PARAM_PAD_MODE, OSSL_PARAM_UTF8_STRING, padding, sizeof padding,
                     0},
                    {OSSL_SIGNATURE_PARAM_DIGEST, OSSL_PARAM_UTF8_STRING, digest, sizeof digest, 0},
                    {OSSL_SIGNATURE_PARAM_MGF1_DIGEST, OSSL_PARAM_UTF8_STRING, mgf1, sizeof mgf1,
                     0},
                    {OSSL_SIGNATURE_PARAM_PSS_SALTLEN, OSSL_PARAM_UTF8_STRING, salt, sizeof salt,
                     0},
                    OSSL_PARAM_END};
                OSSL_PARAM numbers[] = {{OSSL_SIGNATURE_PARAM_PAD_MODE, OSSL_PARAM_INTEGER,
                                         &padding_number, sizeof padding_number, 0},
                                        {OSSL_SIGNATURE_PARAM_PSS_SALTLEN, OSSL_PARAM_INTEGER,
                                         &salt_number, sizeof salt_number, 0},
                                        OSSL_PARAM_END};
                OSSL_PARAM whole[] = {{OSSL_SIGNATURE_PARAM_ALGORITHM_ID, OSSL_PARAM_OCTET_STRING,
                                       identifier, sizeof identifier, 0},
                                      OSSL_PARAM_END};
                for (OSSL_PARAM *list : {params, numbers, whole})
                  outcome.out.push_back(uint8_t(O(EVP_PKEY_CTX_get_params)(each, list)));
                for (const char *text : {padding, digest, mgf1, salt})
                  outcome.out.insert(outcome.out.end(), text, text + std::strlen(text) + 1);
                outcome.out.push_back(uint8_t(padding_number));
                outcome.out.push_back(uint8_t(salt_number));
                outcome.out.insert(outcome.out.end(), identifier, identifier + sizeof identifier);
              }
              return began;
            }))
        << text_of(options);
}

// RSA-PSS keys, unrestricted and restricted to a digest and a minimum salt length.
TEST_F(RsaSignatures, PssKeys) {
  for (bool restricted : {false, true}) {
    const KeyTwins key = make_key_twins(*library, "RSA-PSS", 1024, 2, [&](EVP_PKEY_CTX *context) {
      int salt = 24;
      char digest[] = "SHA256", mgf1[] = "SHA1";
      OSSL_PARAM params[] = {
          {OSSL_PKEY_PARAM_RSA_DIGEST, OSSL_PARAM_UTF8_STRING, digest, 6, 0},
          {OSSL_PKEY_PARAM_RSA_MGF1_DIGEST, OSSL_PARAM_UTF8_STRING, mgf1, 4, 0},
          {OSSL_PKEY_PARAM_RSA_PSS_SALTLEN, OSSL_PARAM_INTEGER, &salt, sizeof salt, 0},
          OSSL_PARAM_END};
      if (!restricted) return;
      EXPECT_EQ(1, O(EVP_PKEY_CTX_set_params)(context, params));
    });
    for (int padding : {RSA_PKCS1_PSS_PADDING, RSA_PKCS1_PADDING, RSA_X931_PADDING})
      for (const char *digest : {"", "SHA1", "SHA256"})
        for (int salt : {-4, -3, -2, -1, 0, 23, 24, 25, 94, 95}) {
          const Options options{.padding = padding,
                                .digest = digest,
                                .mgf1_digest = "",
                                .set_salt = true,
                                .salt = salt};
          sign_both(key, options, random_bytes(random, 32), key.bytes);
          sign_both(key, options, random_bytes(random, 20), key.bytes);
        }
    // These keys support neither encryption nor PKCS #1 v1.5 signatures.
    EXPECT_EQ("", compare(key, [&](EVP_PKEY *pkey, const char *properties, Outcome &) {
                const PkeyContext context = context_for(*library, pkey, properties);
                return O(EVP_PKEY_encrypt_init)(context.get());
              }));
  }
}

TEST_F(RsaSignatures, PublicKeysDoNotSign) {
  const KeyTwins key = copy_key_twins(*library, "RSA", keys[1], EVP_PKEY_PUBLIC_KEY);
  sign_both(key, {.padding = RSA_PKCS1_PADDING, .digest = "SHA256", .mgf1_digest = ""},
            random_bytes(random, 32), key.bytes);
  sign_both(key, {.padding = RSA_PKCS1_PSS_PADDING, .digest = "SHA256", .mgf1_digest = ""},
            random_bytes(random, 32), key.bytes);
}

// OpenSSL does keys of more than two primes.
TEST_F(RsaSignatures, KeysOfThreePrimes) {
  const KeyTwins key = make_key_twins(*library, "RSA", 1536, 3);
  sign_both(key, {.padding = RSA_PKCS1_PADDING, .digest = "SHA256", .mgf1_digest = ""},
            random_bytes(random, 32), key.bytes);
}

}  // namespace
}  // namespace provider_test
