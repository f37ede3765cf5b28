// Creates, caches and copies contexts of the default provider.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/rsa/rsa_template.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <cstring>
#include <memory>
#include <new>

#include "provider/fallback.h"

namespace lanecrypt::provider {
namespace {

constexpr size_t kMostNameBytes = 64;

}  // namespace

SigningState &SigningState::operator=(const SigningState &other) {
  if (this == &other) return *this;
  forget();
  if (other.digest != nullptr) (void)EVP_MD_up_ref(other.digest);
  if (other.mgf1_digest != nullptr) (void)EVP_MD_up_ref(other.mgf1_digest);
  known = other.known;
  padding = other.padding;
  salt_bytes = other.salt_bytes;
  digest = other.digest;
  mgf1_digest = other.mgf1_digest;
  digest_bytes = other.digest_bytes;
  prefix = other.prefix;
  return *this;
}

void SigningState::forget() {
  EVP_MD_free(digest);
  EVP_MD_free(mgf1_digest);
  known = false;
  digest = mgf1_digest = nullptr;
  digest_bytes = 0;
  prefix = {};
}

bool SigningState::read(Provider &provider, EVP_PKEY_CTX *context, const DigestQueries &queries) {
  if (known) return true;
  forget();
  char name[kMostNameBytes] = "", mgf1_name[kMostNameBytes] = "";
  OSSL_PARAM params[] = {
      {OSSL_SIGNATURE_PARAM_PAD_MODE, OSSL_PARAM_INTEGER, &padding, sizeof padding, 0},
      {OSSL_SIGNATURE_PARAM_DIGEST, OSSL_PARAM_UTF8_STRING, name, sizeof name, 0},
      {OSSL_SIGNATURE_PARAM_MGF1_DIGEST, OSSL_PARAM_UTF8_STRING, mgf1_name, sizeof mgf1_name, 0},
      {OSSL_SIGNATURE_PARAM_PSS_SALTLEN, OSSL_PARAM_INTEGER, &salt_bytes, sizeof salt_bytes, 0},
      OSSL_PARAM_END};
  if (!EVP_PKEY_CTX_get_params(context, params)) return false;
  digest = fetch_digest(provider, name, queries.digest.c_str());
  mgf1_digest = fetch_digest(provider, mgf1_name, queries.query_of_mgf1().c_str());
  if ((name[0] != '\0') != (digest != nullptr) ||
      (mgf1_name[0] != '\0') != (mgf1_digest != nullptr))
    return false;
  if (digest != nullptr) {
    const int bytes = EVP_MD_get_size(digest);
    digest_bytes = bytes > 0 ? size_t(bytes) : 0;
    prefix = digest_info_prefix(digest);
  }
  known = true;
  return true;
}

RsaTemplates::~RsaTemplates() {
  for (RsaTemplate *at = first_.load(); at != nullptr;) {
    const std::unique_ptr<RsaTemplate> gone(at);
    at = at->next;
  }
}

const RsaTemplate *RsaTemplates::find(Provider &provider, EVP_PKEY *key, RsaUse use,
                                      const char *digest, const std::string &general) {
  RsaTemplate *first = first_.load(std::memory_order_acquire);
  for (const RsaTemplate *at = first; at != nullptr; at = at->next)
    if (at->use == use && at->has_digest == (digest != nullptr) &&
        (digest == nullptr || (at->digest == digest && at->queries.general == general)))
      return at;
  if (count_.fetch_add(1) >= kMost) {
    count_.fetch_sub(1);
    return nullptr;
  }
  // No error is raised here: what fails here fails again in the caller's own initialisation, which
  // raises the error.
  const ErrorMark mark;
  std::unique_ptr<RsaTemplate> made;
  try {
    made.reset(new RsaTemplate{.use = use,
                               .has_digest = digest != nullptr,
                               .digest = digest == nullptr ? "" : digest,
                               .queries = {},
                               .context = nullptr,
                               .state = {},
                               .next = nullptr});
    made->queries.general = general;
    made->context = begin_fallback(provider, key, use, nullptr);
    if (made->context == nullptr ||
        (digest != nullptr &&
         (!set_message_digest(provider, made->context, digest, made->queries) ||
          !made->state.read(provider, made->context, made->queries))))
      made.reset();
  } catch (const std::bad_alloc &) {
    made.reset();
  }
  if (made == nullptr) {
    count_.fetch_sub(1);
    return nullptr;
  }
  if (use == RsaUse::kSign) (void)made->state.read(provider, made->context, made->queries);
  made->next = first;
  while (!first_.compare_exchange_weak(made->next, made.get(), std::memory_order_acq_rel)) {
  }
  return made.release();
}

EVP_PKEY_CTX *begin_fallback(Provider &provider, EVP_PKEY *key, RsaUse use,
                             const OSSL_PARAM params[]) {
  if (key == nullptr) return nullptr;
  EVP_PKEY_CTX *context =
      EVP_PKEY_CTX_new_from_pkey(library_of_fallback(provider), key, kFallbackProperties);
  int begun = 0;
  switch (use) {
    case RsaUse::kSign:
      begun = EVP_PKEY_sign_init_ex(context, params);
      break;
    case RsaUse::kVerify:
      begun = EVP_PKEY_verify_init_ex(context, params);
      break;
    case RsaUse::kRecover:
      begun = EVP_PKEY_verify_recover_init_ex(context, params);
      break;
    case RsaUse::kEncrypt:
      begun = EVP_PKEY_encrypt_init_ex(context, params);
      break;
    case RsaUse::kDecrypt:
      begun = EVP_PKEY_decrypt_init_ex(context, params);
      break;
  }
  if (context != nullptr && begun == 1) return context;
  EVP_PKEY_CTX_free(context);
  return nullptr;
}

bool set_message_digest(Provider &provider, EVP_PKEY_CTX *context, const char *name,
                        DigestQueries &queries) {
  if (name == nullptr) return true;
  char set[kMostNameBytes] = "";
  OSSL_PARAM ask[] = {{OSSL_SIGNATURE_PARAM_DIGEST, OSSL_PARAM_UTF8_STRING, set, sizeof set, 0},
                      OSSL_PARAM_END};
  if (!EVP_PKEY_CTX_get_params(context, ask)) return false;
  if (*name != '\0' && strcasecmp(set, name) == 0) return true;
  const OSSL_PARAM tell[] = {{OSSL_SIGNATURE_PARAM_DIGEST, OSSL_PARAM_UTF8_STRING,
                              const_cast<char *>(name), std::strlen(name), 0},
                             OSSL_PARAM_END};
  return EVP_PKEY_CTX_set_params(context, queries.complete(provider, tell).data()) == 1;
}

}  // namespace lanecrypt::provider
