// Makes one RSA key in two providers, and compares calls on it.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/rsa/rsa_twins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace provider_test {
namespace {

size_t size_of(EVP_PKEY *key) { return key == nullptr ? 0 : size_t(O(EVP_PKEY_get_size)(key)); }

}  // namespace

std::string rsa_devices() {
  const char *named = std::getenv("LANECRYPT_TEST_RSA_DEVICES");
  return named == nullptr ? "host" : named;
}

PkeyContext context_for(Library &library, EVP_PKEY *key, const char *properties) {
  return PkeyContext(O(EVP_PKEY_CTX_new_from_pkey)(library.get(), key, properties));
}

OSSL_PARAM *parameters_of(const Pkey &key, int selection) {
  OSSL_PARAM *params = nullptr;
  EXPECT_EQ(1, O(EVP_PKEY_todata)(key.get(), selection, &params)) << take_error_texts();
  return params;
}

static Pkey from_parameters(Library &library, const char *type, const char *properties,
                            int selection, OSSL_PARAM *params) {
  const PkeyContext context(O(EVP_PKEY_CTX_new_from_name)(library.get(), type, properties));
  EVP_PKEY *key = nullptr;
  EXPECT_EQ(1, O(EVP_PKEY_fromdata_init)(context.get()));
  EXPECT_EQ(1, O(EVP_PKEY_fromdata)(context.get(), &key, selection, params)) << take_error_texts();
  return Pkey(key);
}

KeyTwins make_key_twins(Library &library, const char *type, unsigned bits, unsigned primes,
                        const std::function<void(EVP_PKEY_CTX *)> &set) {
  KeyTwins twins;
  const PkeyContext context(O(EVP_PKEY_CTX_new_from_name)(library.get(), type, kProperties[0]));
  OSSL_PARAM params[] = {
      {OSSL_PKEY_PARAM_RSA_BITS, OSSL_PARAM_UNSIGNED_INTEGER, &bits, sizeof bits, 0},
      {OSSL_PKEY_PARAM_RSA_PRIMES, OSSL_PARAM_UNSIGNED_INTEGER, &primes, sizeof primes, 0},
      OSSL_PARAM_END};
  EVP_PKEY *key = nullptr;
  EXPECT_EQ(1, O(EVP_PKEY_keygen_init)(context.get()));
  EXPECT_EQ(1, O(EVP_PKEY_CTX_set_params)(context.get(), params));
  if (set) set(context.get());
  EXPECT_EQ(1, O(EVP_PKEY_generate)(context.get(), &key)) << take_error_texts();
  twins.sides[0].reset(key);
  OSSL_PARAM *all = parameters_of(twins.sides[0], EVP_PKEY_KEYPAIR);
  twins.sides[1] = from_parameters(library, type, kProperties[1], EVP_PKEY_KEYPAIR, all);
  O(OSSL_PARAM_free)(all);
  twins.bytes = size_of(key);
  return twins;
}

KeyTwins copy_key_twins(Library &library, const char *type, const KeyTwins &of, int selection) {
  KeyTwins twins;
  for (int side = 0; side < 2; ++side) {
    OSSL_PARAM *all = parameters_of(of.sides[side], selection);
    twins.sides[side] = from_parameters(library, type, kProperties[side], selection, all);
    O(OSSL_PARAM_free)(all);
  }
  twins.bytes = size_of(twins.sides[0].get());
  return twins;
}

std::string compare(const KeyTwins &keys, const Call &call, Outcome *common) {
  Outcome outcomes[2];
  for (int side = 0; side < 2; ++side) {
    take_errors();
    outcomes[side].result = call(keys.sides[side].get(), kProperties[side], outcomes[side]);
    std::vector<unsigned long> errors = take_errors();
    std::erase_if(errors, [](unsigned long error) {
      constexpr int kAsymCipherFailure = 232, kSignatureFailure = 234;  // EVP's, since 3.4
      return ERR_GET_LIB(error) == ERR_LIB_EVP && (ERR_GET_REASON(error) == kAsymCipherFailure ||
                                                   ERR_GET_REASON(error) == kSignatureFailure);
    });
    outcomes[side].errors = errors;
  }
  if (common != nullptr) *common = outcomes[0];
  if (outcomes[0] == outcomes[1]) return "";
  std::string difference;
  for (const Outcome &outcome : outcomes) {
    difference += "\n  result " + std::to_string(outcome.result) + ", " +
                  std::to_string(outcome.out_bytes) + " bytes, errors";
    for (unsigned long error : outcome.errors) {
      char text[256];
      O(ERR_error_string_n)(error, text, sizeof text);
      difference += std::string(" ") + text;
    }
    difference += ", out of " + std::to_string(outcome.out.size()) + " bytes:";
    for (size_t at = 0; at < std::min<size_t>(outcome.out.size(), 24); ++at)
      difference += " " + std::to_string(outcome.out[at]);
  }
  return difference;
}

uint64_t rsa_device_jobs(Library &library) { return library.counter("lanecrypt.rsa-device-jobs"); }

uint64_t rsa_jobs(Library &library) {
  return rsa_device_jobs(library) + library.counter("lanecrypt.rsa-cpu-jobs");
}

}  // namespace provider_test
