// Tests that every refusal has a reason: the provider raises its own error, and does not leave that
// to EVP. A call that succeeds leaves no error behind.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>

#include "provider/pq/pq_keys.h"

namespace provider_test {
namespace {

// Functions that OpenSSL 3.0's headers do not declare.
using BeginMessage = int (*)(EVP_PKEY_CTX *, EVP_SIGNATURE *, const OSSL_PARAM *);
using Update = int (*)(EVP_PKEY_CTX *, const unsigned char *, size_t);
using FinishSign = int (*)(EVP_PKEY_CTX *, unsigned char *, size_t *);
using FinishVerify = int (*)(EVP_PKEY_CTX *);
using SetSignature = int (*)(EVP_PKEY_CTX *, const unsigned char *, size_t);
template <typename Type>
Type function(const char *name) {
  return reinterpret_cast<Type>(libcrypto_symbol(name));
}

struct FreeMethod {
  void operator()(EVP_SIGNATURE *method) const { O(EVP_SIGNATURE_free)(method); }
};
using Method = std::unique_ptr<EVP_SIGNATURE, FreeMethod>;

OSSL_PARAM bytes_param(const char *name, const Bytes &value) {
  return {name, OSSL_PARAM_OCTET_STRING, const_cast<uint8_t *>(value.data()), value.size(), 0};
}
OSSL_PARAM text_param(const char *name) {
  static char text[] = "text";
  return {name, OSSL_PARAM_UTF8_STRING, text, 4, 0};
}
OSSL_PARAM number_param(const char *name, int &value) {
  return {name, OSSL_PARAM_INTEGER, &value, sizeof value, 0};
}

// expect_refused() checks that `call` fails, with an error other than EVP's report of a provider's
// failure.
void expect_refused(const std::string &what, const std::function<int()> &call) {
  take_errors();
  EXPECT_LE(call(), 0) << what;
  bool says_why = false;
  std::string all;
  for (const unsigned long error : take_errors()) {
    says_why |= ERR_GET_LIB(error) != ERR_LIB_EVP;
    all += " " + std::to_string(ERR_GET_LIB(error)) + ":" + std::to_string(ERR_GET_REASON(error));
  }
  EXPECT_TRUE(says_why) << what << ", errors:" << all;
}
void expect_done(const std::string &what, const std::function<int()> &call) {
  take_errors();
  EXPECT_EQ(1, call()) << what;
  EXPECT_EQ("", take_error_texts()) << what;
}

class PqRefusals : public testing::TestWithParam<const char *> {
 protected:
  void SetUp() override {
    if (!has_pq()) GTEST_SKIP() << "this OpenSSL has neither family";
    ASSERT_TRUE(library.is_ready()) << library.errors();
    key = generate(library, GetParam(), "provider=gpu");
    ASSERT_NE(nullptr, key) << take_error_texts();
    OSSL_PARAM *params = nullptr;
    ASSERT_EQ(1, O(EVP_PKEY_todata)(key.get(), EVP_PKEY_PUBLIC_KEY, &params));
    open = key_from(library, GetParam(), "provider=gpu", EVP_PKEY_PUBLIC_KEY, params);
    O(OSSL_PARAM_free)(params);
    ASSERT_NE(nullptr, open);
    method.reset(O(EVP_SIGNATURE_fetch)(library.get(), GetParam(), "provider=gpu"));
    ASSERT_NE(nullptr, method);
  }
  bool is_ml_dsa() const { return GetParam()[0] == 'M'; }
  size_t entropy_bytes() const { return is_ml_dsa() ? 32 : 16; }

  // begin() returns a context that is initialised to sign or to verify with these parameters.
  PkeyContext begin(const Pkey &with, bool signs, const OSSL_PARAM *params = nullptr) {
    PkeyContext context(O(EVP_PKEY_CTX_new_from_pkey)(library.get(), with.get(), "provider=gpu"));
    const auto init = function<BeginMessage>(signs ? "EVP_PKEY_sign_message_init"
                                                   : "EVP_PKEY_verify_message_init");
    EXPECT_EQ(1, init(context.get(), method.get(), params)) << take_error_texts();
    return context;
  }
  int sign(const PkeyContext &context, const Bytes &text, size_t room = 60000) {
    signature.assign(room, 0);
    const int done =
        O(EVP_PKEY_sign)(context.get(), signature.data(), &room, text.data(), text.size());
    if (done == 1) signature.resize(room);
    return done;
  }
  int verify(const PkeyContext &context, const Bytes &text) {
    return O(EVP_PKEY_verify)(context.get(), signature.data(), signature.size(), text.data(),
                              text.size());
  }

  Library library{Settings{{"in_process", "no"}}};
  Pkey key, open;
  Method method;
  Bytes signature, message = Bytes(100, 7);
};

TEST_P(PqRefusals, Parameters) {
  const Bytes too_long(256), entropy(entropy_bytes() + 1), short_entropy(entropy_bytes() - 1);
  int number = 1;
  const OSSL_PARAM refused[] = {
      bytes_param("context-string", too_long),
      text_param("context-string"),
      number_param("context-string", number),
      {"context-string", OSSL_PARAM_OCTET_STRING, nullptr, 3, 0},
      bytes_param("test-entropy", entropy),
      bytes_param("test-entropy", short_entropy),
      text_param("test-entropy"),
      number_param("test-entropy", number),
      {"test-entropy", OSSL_PARAM_OCTET_STRING, nullptr, entropy_bytes(), 0},
      text_param("deterministic"),
      text_param("message-encoding"),
  };
  std::vector<OSSL_PARAM> all(std::begin(refused), std::end(refused));
  if (is_ml_dsa()) {
    all.push_back(text_param("mu"));
    all.push_back(text_param("signature"));
    all.push_back({"signature", OSSL_PARAM_OCTET_STRING, nullptr, 0, 0});
  }
  for (const bool signs : {true, false})
    for (const OSSL_PARAM &one : all) {
      const std::string what = std::string(one.key) + " of type " + std::to_string(one.data_type) +
                               ", " + std::to_string(one.data_size) + " bytes";
      const OSSL_PARAM params[] = {one, OSSL_PARAM_END};
      const PkeyContext context = begin(key, signs);
      expect_refused(what, [&] { return O(EVP_PKEY_CTX_set_params)(context.get(), params); });
      const PkeyContext unbegun(
          O(EVP_PKEY_CTX_new_from_pkey)(library.get(), key.get(), "provider=gpu"));
      expect_refused(what + " at the beginning", [&] {
        return function<BeginMessage>(signs ? "EVP_PKEY_sign_message_init"
                                            : "EVP_PKEY_verify_message_init")(unbegun.get(),
                                                                              method.get(), params);
      });
      const Hash hash(O(EVP_MD_CTX_new)());
      expect_refused(what + " with a digest's context", [&] {
        return (signs ? O(EVP_DigestSignInit_ex) : O(EVP_DigestVerifyInit_ex))(
            hash.get(), nullptr, nullptr, library.get(), "provider=gpu", key.get(), params);
      });
    }
}

TEST_P(PqRefusals, Operations) {
  const Hash hash(O(EVP_MD_CTX_new)());
  for (const bool signs : {true, false})
    expect_refused("a digest", [&] {
      return (signs ? O(EVP_DigestSignInit_ex) : O(EVP_DigestVerifyInit_ex))(
          hash.get(), nullptr, "SHA256", library.get(), "provider=gpu", key.get(), nullptr);
    });
  expect_refused("too little room", [&] { return sign(begin(key, true), message, 1000); });
  expect_refused("a public key signs", [&] { return sign(begin(open, true), message); });
  EXPECT_EQ(0u, library.counter(is_ml_dsa() ? "lanecrypt.ml-dsa-cpu-jobs"
                                            : "lanecrypt.slh-dsa-cpu-jobs"));
  if (is_ml_dsa())
    expect_refused("a public key tells a signature's length", [&] {
      size_t bytes = 0;
      return O(EVP_PKEY_sign)(begin(open, true).get(), nullptr, &bytes, message.data(), 1);
    });
  expect_done("signing", [&] { return sign(begin(key, true), message); });
  expect_done("verifying", [&] { return verify(begin(open, false), message); });
  EXPECT_EQ(1u, library.counter(is_ml_dsa() ? "lanecrypt.ml-dsa-cpu-jobs"
                                            : "lanecrypt.slh-dsa-cpu-jobs"));
}

TEST_P(PqRefusals, Keys) {
  const Bytes wrong(17, 1);
  for (const char *name : {OSSL_PKEY_PARAM_PRIV_KEY, OSSL_PKEY_PARAM_PUB_KEY, "seed"})
    for (const int selection : {EVP_PKEY_KEYPAIR, EVP_PKEY_PUBLIC_KEY}) {
      const OSSL_PARAM params[] = {bytes_param(name, wrong), OSSL_PARAM_END};
      take_errors();
      const bool theirs =
          key_from(library, GetParam(), "provider=default", selection, params) != nullptr;
      const bool they_say_why = !take_errors().empty();
      EXPECT_EQ(theirs,
                key_from(library, GetParam(), "provider=gpu", selection, params) != nullptr);
      EXPECT_TRUE(!they_say_why || !take_errors().empty()) << name;
    }
  expect_refused("a seed of a wrong type", [&] {
    const PkeyContext context(
        O(EVP_PKEY_CTX_new_from_name)(library.get(), GetParam(), "provider=gpu"));
    const OSSL_PARAM params[] = {text_param("seed"), OSSL_PARAM_END};
    EXPECT_EQ(1, O(EVP_PKEY_keygen_init)(context.get()));
    return O(EVP_PKEY_CTX_set_params)(context.get(), params);
  });
  expect_refused("no room for a key", [&] {
    uint8_t byte = 0;
    size_t bytes = 0;
    return O(EVP_PKEY_get_octet_string_param)(key.get(), OSSL_PKEY_PARAM_PUB_KEY, &byte, 1, &bytes);
  });
  expect_refused("a public key is checked as a pair", [&] {
    const PkeyContext context(
        O(EVP_PKEY_CTX_new_from_pkey)(library.get(), open.get(), "provider=gpu"));
    return O(EVP_PKEY_pairwise_check)(context.get());
  });
  expect_refused("a public key is written as a private one", [&] {
    return int(written(open.get(), EVP_PKEY_KEYPAIR, "DER", "PrivateKeyInfo").size());
  });
  expect_done("a new key",
              [&] { return generate(library, GetParam(), "provider=gpu") != nullptr ? 1 : 0; });
}

INSTANTIATE_TEST_SUITE_P(Families, PqRefusals, testing::Values("ML-DSA-44", "SLH-DSA-SHA2-128f"),
                         [](const auto &one) { return one.param[0] == 'M' ? "MlDsa" : "SlhDsa"; });

using MlDsaRefusals = PqRefusals;

TEST_P(MlDsaRefusals, OfMu) {
  int yes = 1, two = 2;
  const Bytes mu(64, 3), too_short(63, 3);
  const OSSL_PARAM is_mu[] = {number_param("mu", yes), OSSL_PARAM_END};
  expect_refused("a mu to sign", [&] { return sign(begin(key, true, is_mu), too_short); });
  expect_done("signing a mu", [&] { return sign(begin(key, true, is_mu), mu); });
  expect_done("verifying a mu", [&] { return verify(begin(open, false, is_mu), mu); });
  expect_refused("a mu to verify", [&] { return verify(begin(open, false, is_mu), too_short); });
  const OSSL_PARAM encoding[] = {number_param("message-encoding", two), OSSL_PARAM_END};
  expect_refused("an unknown encoding", [&] { return sign(begin(key, true, encoding), message); });
}

TEST_P(MlDsaRefusals, OfPieces) {
  const auto update_sign = function<Update>("EVP_PKEY_sign_message_update"),
             update_verify = function<Update>("EVP_PKEY_verify_message_update");
  const auto finish_sign = function<FinishSign>("EVP_PKEY_sign_message_final");
  const auto finish_verify = function<FinishVerify>("EVP_PKEY_verify_message_final");
  const auto set_signature = function<SetSignature>("EVP_PKEY_CTX_set_signature");
  int yes = 1;
  const OSSL_PARAM is_mu[] = {number_param("mu", yes), OSSL_PARAM_END};
  for (const bool signs : {true, false})
    expect_refused("a piece of a mu", [&] {
      return (signs ? update_sign : update_verify)(begin(key, signs, is_mu).get(), message.data(),
                                                   message.size());
    });
  Bytes made(5000);
  size_t bytes = made.size();
  expect_refused("an end without a message",
                 [&] { return finish_sign(begin(key, true).get(), made.data(), &bytes); });
  const PkeyContext signing = begin(key, true);
  expect_done("a piece", [&] { return update_sign(signing.get(), message.data(), 50); });
  bytes = made.size();
  expect_done("an end", [&] { return finish_sign(signing.get(), made.data(), &bytes); });
  expect_refused("a piece after the end",
                 [&] { return update_sign(signing.get(), message.data(), 50); });
  const PkeyContext verifying = begin(open, false);
  expect_refused("no signature", [&] { return set_signature(verifying.get(), nullptr, 0); });
  expect_done("a signature", [&] { return set_signature(verifying.get(), made.data(), bytes); });
  expect_refused("no message", [&] { return finish_verify(verifying.get()); });
  expect_done("a piece", [&] { return update_verify(verifying.get(), message.data(), 50); });
  expect_done("a right signature", [&] { return finish_verify(verifying.get()); });
}

INSTANTIATE_TEST_SUITE_P(MlDsa, MlDsaRefusals, testing::Values("ML-DSA-44"));

TEST(RsaRefusals, SayWhy) {
  Library library(Settings{{"in_process", "no"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  const PkeyContext generation(O(EVP_PKEY_CTX_new_from_name)(library.get(), "RSA", "provider=gpu"));
  EVP_PKEY *made = nullptr;
  ASSERT_EQ(1, O(EVP_PKEY_keygen_init)(generation.get()));
  ASSERT_EQ(1, O(EVP_PKEY_generate)(generation.get(), &made)) << take_error_texts();
  const Pkey key(made);
  OSSL_PARAM *params = nullptr;
  ASSERT_EQ(1, O(EVP_PKEY_todata)(key.get(), EVP_PKEY_PUBLIC_KEY, &params));
  const Pkey open = key_from(library, "RSA", "provider=gpu", EVP_PKEY_PUBLIC_KEY, params);
  O(OSSL_PARAM_free)(params);
  ASSERT_NE(nullptr, open);
  const auto context_of = [&](const Pkey &of) {
    return PkeyContext(O(EVP_PKEY_CTX_new_from_pkey)(library.get(), of.get(), "provider=gpu"));
  };
  Bytes out(256), in(300, 1);
  size_t bytes = out.size();
  const PkeyContext signs = context_of(open);
  expect_done("a public key begins", [&] { return O(EVP_PKEY_sign_init)(signs.get()); });
  expect_refused("a public key signs",
                 [&] { return O(EVP_PKEY_sign)(signs.get(), out.data(), &bytes, in.data(), 32); });
  const PkeyContext decrypts = context_of(open);
  expect_done("a public key begins", [&] { return O(EVP_PKEY_decrypt_init)(decrypts.get()); });
  expect_refused("a public key decrypts", [&] {
    bytes = out.size();
    return O(EVP_PKEY_decrypt)(decrypts.get(), out.data(), &bytes, in.data(), 256);
  });
  EXPECT_EQ(0u, library.counter("lanecrypt.rsa-cpu-jobs"));
  const PkeyContext encrypts = context_of(open);
  expect_done("encryption begins", [&] { return O(EVP_PKEY_encrypt_init)(encrypts.get()); });
  expect_refused("too long a text", [&] {
    bytes = out.size();
    return O(EVP_PKEY_encrypt)(encrypts.get(), out.data(), &bytes, in.data(), in.size());
  });
  int unknown = 99;
  const OSSL_PARAM no_padding[] = {number_param(OSSL_SIGNATURE_PARAM_PAD_MODE, unknown),
                                   OSSL_PARAM_END};
  expect_refused("an unknown padding",
                 [&] { return O(EVP_PKEY_CTX_set_params)(signs.get(), no_padding); });
  expect_refused("a key without a modulus", [&] {
    const OSSL_PARAM none[] = {OSSL_PARAM_END};
    return int(key_from(library, "RSA", "provider=gpu", EVP_PKEY_KEYPAIR, none) != nullptr);
  });
}

}  // namespace
}  // namespace provider_test
