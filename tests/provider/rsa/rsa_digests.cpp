// Tests digests of a third provider. Like OpenSSL's own RSA, ours signs with the digest that the
// application's property query finds, not only with the default provider's.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/core_dispatch.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "provider/rsa/rsa_twins.h"

namespace provider_test {
namespace {

// ---- The third provider: digests that sum bytes up, so that no other provider has the same ----

struct Sum {
  uint8_t bytes[32];
  size_t at;
};

void *new_sum(void *) { return new Sum{}; }
void free_sum(void *sum) { delete static_cast<Sum *>(sum); }
void *copy_sum(void *sum) { return new Sum(*static_cast<Sum *>(sum)); }
int begin_sum(void *sum, const OSSL_PARAM[]) {
  *static_cast<Sum *>(sum) = {};
  return 1;
}
int update_sum(void *pointer, const unsigned char *in, size_t bytes) {
  Sum &sum = *static_cast<Sum *>(pointer);
  for (size_t n = 0; n < bytes; ++n, ++sum.at)
    sum.bytes[sum.at % 16] = uint8_t(3 * sum.bytes[sum.at % 16] + in[n] + 1);
  return 1;
}
template <size_t kBytes>
int finish_sum(void *pointer, unsigned char *out, size_t *bytes, size_t room) {
  if (room < kBytes) return 0;
  std::memcpy(out, static_cast<Sum *>(pointer)->bytes, *bytes = kBytes);
  return 1;
}
template <size_t kBytes>
int get_sum_params(OSSL_PARAM params[]) {
  for (const auto &[name, value] :
       {std::pair{OSSL_DIGEST_PARAM_SIZE, kBytes}, {OSSL_DIGEST_PARAM_BLOCK_SIZE, size_t(64)}})
    if (OSSL_PARAM *param = O(OSSL_PARAM_locate)(params, name);
        param != nullptr && !O(OSSL_PARAM_set_size_t)(param, value))
      return 0;
  return 1;
}

using Function = void (*)();
template <size_t kBytes>
const OSSL_DISPATCH kSum[] = {
    {OSSL_FUNC_DIGEST_NEWCTX, reinterpret_cast<Function>(new_sum)},
    {OSSL_FUNC_DIGEST_FREECTX, reinterpret_cast<Function>(free_sum)},
    {OSSL_FUNC_DIGEST_DUPCTX, reinterpret_cast<Function>(copy_sum)},
    {OSSL_FUNC_DIGEST_INIT, reinterpret_cast<Function>(begin_sum)},
    {OSSL_FUNC_DIGEST_UPDATE, reinterpret_cast<Function>(update_sum)},
    {OSSL_FUNC_DIGEST_FINAL, reinterpret_cast<Function>(finish_sum<kBytes>)},
    {OSSL_FUNC_DIGEST_GET_PARAMS, reinterpret_cast<Function>(get_sum_params<kBytes>)},
    {0, nullptr},
};
// No other provider has MD4. SHA256 is only for callers whose query prefers this provider.
constexpr char kTheseDefinition[] = "provider=sums,x.sums=yes,x.also=yes";
const OSSL_ALGORITHM kDigests[] = {
    {"MD4:1.2.840.113549.2.4", kTheseDefinition, kSum<16>, nullptr},
    {"SHA2-256:SHA-256:SHA256:2.16.840.1.101.3.4.2.1", kTheseDefinition, kSum<32>, nullptr},
    {nullptr, nullptr, nullptr, nullptr},
};

const OSSL_ALGORITHM *query_sums(void *, int operation, int *no_cache) {
  *no_cache = 0;
  return operation == OSSL_OP_DIGEST ? kDigests : nullptr;
}
const OSSL_DISPATCH kProvider[] = {
    {OSSL_FUNC_PROVIDER_QUERY_OPERATION, reinterpret_cast<Function>(query_sums)},
    {0, nullptr},
};
int begin_provider(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *, const OSSL_DISPATCH **out,
                   void **context) {
  *out = kProvider;
  *context = const_cast<OSSL_CORE_HANDLE *>(handle);
  return 1;
}

// ---- The tests ------------------------------------------------------------

// Each side prefers its own implementation of RSA. When a digest is fetched after that, the two
// properties of kThese outweigh this one.
const std::string kPreferring[2] = {"?provider=default", "?provider=gpu"};
constexpr char kThese[] = "?x.sums=yes,?x.also=yes";

class RsaDigests : public testing::TestWithParam<const char *> {
 protected:
  Library library{{{"devices", GetParam()}, {"rsa", "always"}}};
  OSSL_PROVIDER *sums = nullptr;
  KeyTwins key;
  void SetUp() override {
    ASSERT_TRUE(library.is_ready()) << library.errors();
    ASSERT_EQ(1, O(OSSL_PROVIDER_add_builtin)(library.get(), "sums", begin_provider));
    sums = O(OSSL_PROVIDER_load)(library.get(), "sums");
    ASSERT_NE(nullptr, sums) << take_error_texts();
    // Unless a query asks for these digests, the default provider's are used.
    ASSERT_EQ(1, O(EVP_set_default_properties)(library.get(), "?x.sums=no"));
    key = make_key_twins(library, "RSA", 1024);
  }
  void TearDown() override {
    key = {};
    O(OSSL_PROVIDER_unload)(sums);
  }
  static size_t side_of(const char *properties) {
    return std::strcmp(properties, kProperties[1]) == 0 ? 1 : 0;
  }
  // expect_same() makes a call with each provider, with its preference and with `more` properties.
  using Both = std::function<int(EVP_PKEY *, const std::string &properties, Outcome &)>;
  void expect_same(const std::string &more, const Both &call) {
    Outcome common;
    EXPECT_EQ("", compare(
                      key,
                      [&](EVP_PKEY *pkey, const char *properties, Outcome &outcome) {
                        std::string all = kPreferring[side_of(properties)];
                        if (!more.empty()) all += "," + more;
                        return call(pkey, all, outcome);
                      },
                      &common))
        << more;
    EXPECT_EQ(1, common.result) << more;
  }
  int sign_message(const char *digest, EVP_PKEY *pkey, const std::string &properties,
                   Outcome &outcome) {
    const Bytes message(1000, 9);
    EVP_MD_CTX *context = O(EVP_MD_CTX_new)();
    Bytes signature(key.bytes);
    size_t bytes = signature.size();
    int result = O(EVP_DigestSignInit_ex)(context, nullptr, digest, library.get(),
                                          properties.c_str(), pkey, nullptr);
    if (result == 1)
      result = O(EVP_DigestSign)(context, signature.data(), &bytes, message.data(), message.size());
    if (result == 1) {
      outcome.out = signature;
      O(EVP_MD_CTX_free)(context);
      context = O(EVP_MD_CTX_new)();
      result = O(EVP_DigestVerifyInit_ex)(context, nullptr, digest, library.get(),
                                          properties.c_str(), pkey, nullptr);
      if (result == 1)
        result =
            O(EVP_DigestVerify)(context, signature.data(), bytes, message.data(), message.size());
    }
    O(EVP_MD_CTX_free)(context);
    return result;
  }
};

// Only the third provider has MD4.
TEST_P(RsaDigests, OfAThirdProvider) {
  expect_same("", [&](EVP_PKEY *pkey, const std::string &properties, Outcome &outcome) {
    return sign_message("MD4", pkey, properties, outcome);
  });
  expect_same("", [&](EVP_PKEY *pkey, const std::string &properties, Outcome &outcome) {
    const PkeyContext context = context_for(library, pkey, properties.c_str());
    char name[] = "MD4";
    OSSL_PARAM params[] = {{OSSL_SIGNATURE_PARAM_DIGEST, OSSL_PARAM_UTF8_STRING, name, 3, 0},
                           OSSL_PARAM_END};
    const Bytes digest(16, 5);
    outcome.out.resize(key.bytes);
    size_t bytes = key.bytes;
    if (O(EVP_PKEY_sign_init_ex)(context.get(), params) != 1) return 0;
    return O(EVP_PKEY_sign)(context.get(), outcome.out.data(), &bytes, digest.data(), 16);
  });
}

// If two digests have the same name, the query decides, anew for each message: no signature uses
// the query of an earlier one.
TEST_P(RsaDigests, TheQueryDecides) {
  Bytes made[2];
  for (const bool again : {false, true})
    for (const bool these : {false, true})
      expect_same(these ? kThese : "",
                  [&](EVP_PKEY *pkey, const std::string &properties, Outcome &outcome) {
                    const int result = sign_message("SHA256", pkey, properties, outcome);
                    if (again) {
                      EXPECT_EQ(made[these], outcome.out);
                    }
                    made[these] = outcome.out;
                    return result;
                  });
  EXPECT_NE(made[0], made[1]);
  // A query that requires our RSA finds the default provider's digests.
  Outcome outcome;
  EXPECT_EQ(1, sign_message("SHA256", key.sides[1].get(), "provider=gpu", outcome))
      << take_error_texts();
  EXPECT_EQ(made[0], outcome.out);
}

// Each digest has its own query. Without a salt PSS is deterministic.
TEST_P(RsaDigests, QueriesOfEachDigest) {
  std::vector<Bytes> made;
  for (const char *general : {"", kThese})
    for (const char *of_digest : {(const char *)nullptr, "", kThese})
      for (const char *of_mgf1 : {(const char *)nullptr, "", kThese})
        for (const bool names_mgf1 : {false, true}) {
          if (!names_mgf1 && of_mgf1 != nullptr) continue;
          const auto sign = [&](EVP_PKEY *pkey, const std::string &properties, Outcome &outcome) {
            const PkeyContext context = context_for(library, pkey, properties.c_str());
            int padding = RSA_PKCS1_PSS_PADDING, salt = 0;
            char name[] = "SHA256";
            std::vector<OSSL_PARAM> params = {
                {OSSL_SIGNATURE_PARAM_PAD_MODE, OSSL_PARAM_INTEGER, &padding, sizeof padding, 0},
                {OSSL_SIGNATURE_PARAM_PSS_SALTLEN, OSSL_PARAM_INTEGER, &salt, sizeof salt, 0}};
            const auto add = [&](const char *key_name, const char *text) {
              if (text != nullptr)
                params.push_back({key_name, OSSL_PARAM_UTF8_STRING, const_cast<char *>(text),
                                  std::strlen(text), 0});
            };
            add(OSSL_SIGNATURE_PARAM_DIGEST, name);
            add(OSSL_SIGNATURE_PARAM_PROPERTIES, of_digest);
            if (names_mgf1) add(OSSL_SIGNATURE_PARAM_MGF1_DIGEST, name);
            add(OSSL_SIGNATURE_PARAM_MGF1_PROPERTIES, of_mgf1);
            params.push_back(OSSL_PARAM_END);
            const Bytes digest(32, 5);
            outcome.out.resize(key.bytes);
            size_t bytes = key.bytes;
            if (O(EVP_PKEY_sign_init)(context.get()) != 1 ||
                O(EVP_PKEY_CTX_set_params)(context.get(), params.data()) != 1)
              return 0;
            const PkeyContext copy(O(EVP_PKEY_CTX_dup)(context.get()));
            const int result =
                O(EVP_PKEY_sign)(copy.get(), outcome.out.data(), &bytes, digest.data(), 32);
            made.push_back(outcome.out);
            return result;
          };
          expect_same(general, sign);
        }
  // The results are those with the default provider's digests, with the third provider's, and with
  // one of each.
  std::sort(made.begin(), made.end());
  EXPECT_EQ(4, std::unique(made.begin(), made.end()) - made.begin());
}

// The context's query does not apply to OAEP's digests: they have their own queries, or none.
TEST_P(RsaDigests, OfOaep) {
  for (const char *of_digest : {(const char *)nullptr, "?provider=default", kThese})
    for (const char *of_mgf1 : {(const char *)nullptr, "?provider=default", kThese})
      for (const bool names_mgf1 : {false, true}) {
        if (!names_mgf1 && of_mgf1 != nullptr) continue;
        const auto set = [&](EVP_PKEY_CTX *context) {
          int padding = RSA_PKCS1_OAEP_PADDING;
          char name[] = "SHA256";
          std::vector<OSSL_PARAM> params = {
              {OSSL_ASYM_CIPHER_PARAM_PAD_MODE, OSSL_PARAM_INTEGER, &padding, sizeof padding, 0}};
          const auto add = [&](const char *key_name, const char *text) {
            if (text != nullptr)
              params.push_back({key_name, OSSL_PARAM_UTF8_STRING, const_cast<char *>(text),
                                std::strlen(text), 0});
          };
          add(OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST, name);
          add(OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST_PROPS, of_digest);
          if (names_mgf1) add(OSSL_ASYM_CIPHER_PARAM_MGF1_DIGEST, name);
          add(OSSL_ASYM_CIPHER_PARAM_MGF1_DIGEST_PROPS, of_mgf1);
          params.push_back(OSSL_PARAM_END);
          return O(EVP_PKEY_CTX_set_params)(context, params.data());
        };
        // The default provider encrypts the text once.
        const Bytes text(20, 7);
        Bytes ciphertext(key.bytes);
        size_t bytes = key.bytes;
        const PkeyContext encrypting =
            context_for(library, key.sides[0].get(), kPreferring[0].c_str());
        ASSERT_EQ(1, O(EVP_PKEY_encrypt_init)(encrypting.get()));
        ASSERT_EQ(1, set(encrypting.get())) << take_error_texts();
        ASSERT_EQ(1, O(EVP_PKEY_encrypt)(encrypting.get(), ciphertext.data(), &bytes, text.data(),
                                         text.size()))
            << take_error_texts();
        const uint64_t before = rsa_device_jobs(library);
        expect_same("", [&](EVP_PKEY *pkey, const std::string &properties, Outcome &outcome) {
          const PkeyContext context = context_for(library, pkey, properties.c_str());
          if (O(EVP_PKEY_decrypt_init)(context.get()) != 1 || set(context.get()) != 1) return 0;
          const PkeyContext copy(O(EVP_PKEY_CTX_dup)(context.get()));
          size_t out_bytes = key.bytes;
          outcome.out.resize(key.bytes);
          const int result = O(EVP_PKEY_decrypt)(copy.get(), outcome.out.data(), &out_bytes,
                                                 ciphertext.data(), bytes);
          outcome.out.resize(result == 1 ? out_bytes : 0);
          EXPECT_EQ(text, outcome.out);
          return result;
        });
        EXPECT_EQ(before + (std::strcmp(GetParam(), "none") == 0 ? 0 : 1),
                  rsa_device_jobs(library));
      }
}

INSTANTIATE_TEST_SUITE_P(On, RsaDigests, testing::Values("host", "none"),
                         [](const auto &suite) { return std::string(suite.param); });

}  // namespace
}  // namespace provider_test
