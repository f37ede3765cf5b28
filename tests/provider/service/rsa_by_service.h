// RSA by a fake service, which computes with the key that it was given.
// tests/e2e/service/test_service_provider.py tests the real one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <openssl/bn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "provider/rsa/rsa_twins.h"
#include "provider/system_log.h"
#include "service/client/fake_service.h"

namespace provider_test {

using service_test::FakeService;
namespace wire = lanecrypt::service;

// ---- The service's arithmetic ---------------------------------------------------

struct FreeNumber {
  void operator()(BIGNUM *number) const { O(BN_free)(number); }
};
using Number = std::unique_ptr<BIGNUM, FreeNumber>;

inline Number number(std::span<const uint8_t> bytes) {
  return Number(O(BN_bin2bn)(bytes.data(), int(bytes.size()), nullptr));
}

// private_operation() uses the Chinese remainder theorem, so that each part of the key must be
// right.
inline Bytes private_operation(std::span<const uint8_t> input, const std::vector<Bytes> &key) {
  BN_CTX *const context = O(BN_CTX_new)();
  const Number c = number(input), p = number(key[wire::kP]), q = number(key[wire::kQ]);
  const Number dp = number(key[wire::kDp]), dq = number(key[wire::kDq]);
  const Number qinv = number(key[wire::kQinv]), m1(O(BN_new)()), m2(O(BN_new)());
  O(BN_mod_exp)(m1.get(), c.get(), dp.get(), p.get(), context);
  O(BN_mod_exp)(m2.get(), c.get(), dq.get(), q.get(), context);
  O(BN_mod_sub)(m1.get(), m1.get(), m2.get(), p.get(), context);
  O(BN_mod_mul)(m1.get(), m1.get(), qinv.get(), p.get(), context);
  O(BN_mul)(m1.get(), m1.get(), q.get(), context);
  O(BN_add)(m1.get(), m1.get(), m2.get());
  Bytes output(input.size());
  O(BN_bn2binpad)(m1.get(), output.data(), int(output.size()));
  O(BN_CTX_free)(context);
  return output;
}

inline Bytes part_of(EVP_PKEY *key, const char *name) {
  BIGNUM *number = nullptr;
  if (!O(EVP_PKEY_get_bn_param)(key, name, &number)) return {};
  Bytes bytes(size_t(O(BN_num_bits)(number) + 7) / 8);
  O(BN_bn2binpad)(number, bytes.data(), int(bytes.size()));
  O(BN_free)(number);
  return bytes;
}

inline std::vector<Bytes> new_key(uint32_t bits) {
  EVP_PKEY *const key = O(EVP_PKEY_Q_keygen)(nullptr, nullptr, "RSA", size_t(bits));
  std::vector<Bytes> parts;
  for (const char *name :
       {OSSL_PKEY_PARAM_RSA_N, OSSL_PKEY_PARAM_RSA_E, OSSL_PKEY_PARAM_RSA_FACTOR1,
        OSSL_PKEY_PARAM_RSA_FACTOR2, OSSL_PKEY_PARAM_RSA_EXPONENT1, OSSL_PKEY_PARAM_RSA_EXPONENT2,
        OSSL_PKEY_PARAM_RSA_COEFFICIENT1, OSSL_PKEY_PARAM_RSA_D})
    parts.push_back(part_of(key, name));
  O(EVP_PKEY_free)(key);
  return parts;
}

// ---- A provider with that service -----------------------------------------------

class RsaByService : public testing::Test {
 protected:
  RsaByService() {
    fake.compute = private_operation;
    fake.generate = new_key;
    (void)take_system_log();
  }
  void load(Settings settings) {
    settings.insert(settings.begin(), {{"in_process", "no"}, {"service", fake.path()}});
    library = std::make_unique<Library>(settings);
    ASSERT_TRUE(library->is_ready()) << library->errors();
    key = make_key_twins(*library, "RSA", 1024);
  }
  uint64_t count(const char *name) {
    return library->counter((std::string("lanecrypt.rsa-") + name).c_str());
  }

  // sign() signs with our provider. The result is empty on failure, with the errors in `errors`.
  Bytes sign(int seed = 1, const KeyTwins *with = nullptr) {
    const KeyTwins &of = with == nullptr ? key : *with;
    const PkeyContext context = context_for(*library, of.sides[1].get(), kProperties[1]);
    const Bytes digest(32, uint8_t(seed));
    Bytes signature(of.bytes);
    size_t bytes = signature.size();
    EVP_MD *sha256 = O(EVP_MD_fetch)(library->get(), "SHA256", nullptr);
    const bool done = O(EVP_PKEY_sign_init)(context.get()) == 1 &&
                      O(EVP_PKEY_CTX_set_signature_md)(context.get(), sha256) == 1 &&
                      O(EVP_PKEY_sign)(context.get(), signature.data(), &bytes, digest.data(),
                                       digest.size()) == 1;
    O(EVP_MD_free)(sha256);
    errors = take_error_texts();
    return done ? signature : Bytes();
  }
  // is_right() says whether OpenSSL's own provider verifies the signature.
  bool is_right(const Bytes &signature, int seed = 1) {
    const PkeyContext context = context_for(*library, key.sides[0].get(), kProperties[0]);
    const Bytes digest(32, uint8_t(seed));
    EVP_MD *sha256 = O(EVP_MD_fetch)(library->get(), "SHA256", nullptr);
    const bool right = O(EVP_PKEY_verify_init)(context.get()) == 1 &&
                       O(EVP_PKEY_CTX_set_signature_md)(context.get(), sha256) == 1 &&
                       O(EVP_PKEY_verify)(context.get(), signature.data(), signature.size(),
                                          digest.data(), digest.size()) == 1;
    O(EVP_MD_free)(sha256);
    take_errors();
    return right;
  }
  bool signs_rightly(int seed = 1) { return is_right(sign(seed), seed); }

  Pkey generate(unsigned bits, EVP_PKEY_gen_cb *tell = nullptr) {
    const PkeyContext context(O(EVP_PKEY_CTX_new_from_name)(library->get(), "RSA", kProperties[1]));
    EVP_PKEY *made = nullptr;
    if (O(EVP_PKEY_keygen_init)(context.get()) != 1 ||
        O(EVP_PKEY_CTX_set_rsa_keygen_bits)(context.get(), int(bits)) != 1)
      return nullptr;
    if (tell != nullptr) O(EVP_PKEY_CTX_set_cb)(context.get(), tell);
    if (O(EVP_PKEY_generate)(context.get(), &made) != 1) made = nullptr;
    errors = take_error_texts();
    return Pkey(made);
  }
  bool is_whole(const Pkey &made) {
    const PkeyContext context = context_for(*library, made.get(), kProperties[0]);
    return O(EVP_PKEY_check)(context.get()) == 1;
  }

  FakeService fake;
  std::unique_ptr<Library> library;
  KeyTwins key;
  std::string errors;
};

// in_child() runs `what` in a child of fork(), and returns 0 or the child's exit status.
template <class What>
int in_child(const What &what) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    _exit(what());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace provider_test
