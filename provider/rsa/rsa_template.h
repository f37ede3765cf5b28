// Contexts of the default provider that are initialised once for each key and operation. Each of
// our operations takes a copy, because a new initialisation costs a twentieth of a signature.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <atomic>
#include <string>

#include "provider/provider.h"
#include "provider/rsa/rsa_digests.h"
#include "provider/rsa/rsa_padding.h"

namespace lanecrypt::provider {

enum class RsaUse { kSign, kVerify, kRecover, kEncrypt, kDecrypt };

// SigningState is the part of a signature context's state in the default provider that the padding
// needs.
struct SigningState {
  bool known = false;
  int padding = 0;
  int salt_bytes = 0;
  // nullptr if none is set.
  EVP_MD *digest = nullptr, *mgf1_digest = nullptr;
  size_t digest_bytes = 0;
  ByteSpan prefix;

  SigningState() = default;
  ~SigningState() { forget(); }
  SigningState(const SigningState &) = delete;
  SigningState &operator=(const SigningState &other);
  void forget();
  // read() queries `context`. It returns false if the context has a digest that we cannot fetch.
  bool read(Provider &provider, EVP_PKEY_CTX *context, const DigestQueries &queries);
};

struct RsaTemplate {
  RsaUse use;
  // The digest of a message's signature, under the name that OpenSSL's core passed.
  bool has_digest;
  std::string digest;
  DigestQueries queries;
  EVP_PKEY_CTX *context = nullptr;
  SigningState state;
  RsaTemplate *next = nullptr;

  ~RsaTemplate() { EVP_PKEY_CTX_free(context); }
};

// RsaTemplates are the templates of one key. Thread-safe.
class RsaTemplates {
 public:
  RsaTemplates() = default;
  ~RsaTemplates();
  RsaTemplates(const RsaTemplates &) = delete;

  // find() returns the template for an operation, and creates it if necessary. `digest` is nullptr
  // if no message is signed. `general` is as in DigestQueries, and matters only for messages. It
  // returns nullptr if the context cannot be initialised, or if there are kMost templates.
  const RsaTemplate *find(Provider &provider, EVP_PKEY *key, RsaUse use, const char *digest,
                          const std::string &general);

 private:
  static constexpr int kMost = 16;
  // Templates are added, but never removed before the key is freed.
  std::atomic<RsaTemplate *> first_{nullptr};
  std::atomic<int> count_{0};
};

// begin_fallback() initialises an operation of the default provider. The caller frees the result.
// It returns nullptr with an error raised on failure.
EVP_PKEY_CTX *begin_fallback(Provider &provider, EVP_PKEY *key, RsaUse use,
                             const OSSL_PARAM params[]);
// set_message_digest() sets the digest of a message, unless the key has set the same. It sets
// nothing if `name` is nullptr. It may throw std::bad_alloc.
bool set_message_digest(Provider &provider, EVP_PKEY_CTX *context, const char *name,
                        DigestQueries &queries);

}  // namespace lanecrypt::provider
