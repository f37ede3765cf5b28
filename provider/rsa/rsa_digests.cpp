// Notes the property queries of digests, and fetches digests by them.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/rsa/rsa_digests.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <cstring>

namespace lanecrypt::provider {
namespace {

OSSL_PARAM text_param(const char *name, const std::string &text) {
  return {name, OSSL_PARAM_UTF8_STRING, const_cast<char *>(text.c_str()), text.size(), 0};
}

}  // namespace

std::string text_of(const OSSL_PARAM &param) {
  if (param.data_type != OSSL_PARAM_UTF8_STRING || param.data == nullptr) return "";
  const char *text = static_cast<const char *>(param.data);
  return {text, strnlen(text, param.data_size)};
}

void DigestQueries::forget() {
  digest = mgf1_digest = kFallbackProperties;
  has_mgf1_digest = false;
}

const char *DigestQueries::query_for(Provider &provider, const char *name) const {
  const ErrorMark mark;
  EVP_MD *found = EVP_MD_fetch(library_of_fallback(provider), name, general.c_str());
  EVP_MD_free(found);
  return found != nullptr ? general.c_str() : kFallbackProperties;
}

std::vector<OSSL_PARAM> DigestQueries::complete(Provider &provider, const OSSL_PARAM params[]) {
  std::vector<OSSL_PARAM> all;
  for (const OSSL_PARAM *param = params; param->key != nullptr; ++param) all.push_back(*param);
  const auto add_query = [&](const char *digest_name, const char *query_name, std::string &query) {
    const OSSL_PARAM *digest_param = OSSL_PARAM_locate_const(params, digest_name);
    if (digest_param == nullptr) return false;
    const OSSL_PARAM *query_param = OSSL_PARAM_locate_const(params, query_name);
    if (query_param != nullptr) {
      query = text_of(*query_param);
    } else {
      query = query_for(provider, text_of(*digest_param).c_str());
      all.push_back(text_param(query_name, query));
    }
    return true;
  };
  add_query(OSSL_SIGNATURE_PARAM_DIGEST, OSSL_SIGNATURE_PARAM_PROPERTIES, digest);
  has_mgf1_digest |= add_query(OSSL_SIGNATURE_PARAM_MGF1_DIGEST,
                               OSSL_SIGNATURE_PARAM_MGF1_PROPERTIES, mgf1_digest);
  all.push_back(OSSL_PARAM_END);
  return all;
}

bool sets_digest(const OSSL_PARAM params[]) {
  return OSSL_PARAM_locate_const(params, OSSL_SIGNATURE_PARAM_DIGEST) != nullptr ||
         OSSL_PARAM_locate_const(params, OSSL_SIGNATURE_PARAM_MGF1_DIGEST) != nullptr;
}

EVP_MD *fetch_digest(Provider &provider, const char *name, const char *query) {
  EVP_MD *digest =
      *name == '\0' ? nullptr : EVP_MD_fetch(library_of_fallback(provider), name, query);
  if (digest == nullptr || EVP_MD_get_size(digest) <= EVP_MAX_MD_SIZE) return digest;
  EVP_MD_free(digest);
  return nullptr;
}

}  // namespace lanecrypt::provider
