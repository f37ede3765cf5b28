// Contexts of the default provider, begun once for each key and operation. Each of our
// operations takes a copy, since beginning a new one costs a twentieth of a signature.
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

// The state of the default provider's context of a signature, as far as padding needs it.
struct SigningState {
  bool known = false;
  int padding = 0;
  int salt_bytes = 0;
  // nullptr if none was set.
  EVP_MD *digest = nullptr, *mgf1_digest = nullptr;
  size_t digest_bytes = 0;
  ByteSpan prefix;

  SigningState() = default;
  ~SigningState() { forget(); }
  SigningState(const SigningState &) = delete;
  SigningState &operator=(const SigningState &other);
  void forget();
  // Asks a context. False if it has something that we do not know.
  bool read(Provider &provider, EVP_PKEY_CTX *context, const DigestQueries &queries);
};

struct RsaTemplate {
  RsaUse use;
  // The digest of a message's signature, as OpenSSL's core named it.
  bool has_digest;
  std::string digest;
  DigestQueries queries;
  EVP_PKEY_CTX *context = nullptr;
  SigningState state;
  RsaTemplate *next = nullptr;

  ~RsaTemplate() { EVP_PKEY_CTX_free(context); }
};

// The templates of one key. Any thread.
class RsaTemplates {
 public:
  RsaTemplates() = default;
  ~RsaTemplates();
  RsaTemplates(const RsaTemplates &) = delete;

  // digest: nullptr if no message is signed. `general` is as in DigestQueries, and counts
  // only for messages. Returns nullptr if the context cannot be begun, or if there are very
  // many templates.
  const RsaTemplate *find(Provider &provider, EVP_PKEY *key, RsaUse use, const char *digest,
                          const std::string &general);

 private:
  static constexpr int kMost = 16;
  // Templates are added, but never removed.
  std::atomic<RsaTemplate *> first_{nullptr};
  std::atomic<int> count_{0};
};

// Begins an operation of the default provider. nullptr with an error raised.
EVP_PKEY_CTX *begin_fallback(Provider &provider, EVP_PKEY *key, RsaUse use,
                             const OSSL_PARAM params[]);
// Sets the digest of a message, unless the key has set the same. Sets nothing if `name` is
// nullptr. May throw std::bad_alloc.
bool set_message_digest(Provider &provider, EVP_PKEY_CTX *context, const char *name,
                        DigestQueries &queries);

}  // namespace lanecrypt::provider
