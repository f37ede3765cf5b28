// RSA on both sides of a comparison: one key in OpenSSL's default provider and in ours.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/rsa.h>

#include <functional>
#include <memory>
#include <string>

#include "provider/provider_under_test.h"

namespace provider_test {

// The devices of the RSA tests: those that LANECRYPT_TEST_RSA_DEVICES names, or `host`.
std::string rsa_devices();

inline const char *const kProperties[2] = {"provider=default", "?provider=gpu"};

struct FreePkey {
  void operator()(EVP_PKEY *key) const { O(EVP_PKEY_free)(key); }
};
using Pkey = std::unique_ptr<EVP_PKEY, FreePkey>;
struct FreePkeyContext {
  void operator()(EVP_PKEY_CTX *context) const { O(EVP_PKEY_CTX_free)(context); }
};
using PkeyContext = std::unique_ptr<EVP_PKEY_CTX, FreePkeyContext>;

PkeyContext context_for(Library &library, EVP_PKEY *key, const char *properties);

// One key, made by the default provider and exported to ours.
struct KeyTwins {
  Pkey sides[2];  // default, gpu
  size_t bytes = 0;
};

// `type` is RSA or RSA-PSS. `set` sets more parameters of the generation.
KeyTwins make_key_twins(Library &library, const char *type, unsigned bits, unsigned primes = 2,
                        const std::function<void(EVP_PKEY_CTX *)> &set = nullptr);
// Copies the `selection` of a key into a new key on each side.
KeyTwins copy_key_twins(Library &library, const char *type, const KeyTwins &of, int selection);
// The parameters of a key, owned by OpenSSL: OSSL_PARAM_free() frees them.
OSSL_PARAM *parameters_of(const Pkey &key, int selection);

// A call that is made on each side. It fills the outcome, and returns the result of its last
// call of EVP.
using Call = std::function<int(EVP_PKEY *key, const char *properties, Outcome &outcome)>;
// Returns the difference between the two sides, or "". One error is not compared: EVP's own
// that a provider failed, since OpenSSL's object within ours may raise it too.
std::string compare(const KeyTwins &keys, const Call &call, Outcome *common = nullptr);

// How many operations ran on devices and the CPU together, and on devices only.
uint64_t rsa_jobs(Library &library);
uint64_t rsa_device_jobs(Library &library);

}  // namespace provider_test
