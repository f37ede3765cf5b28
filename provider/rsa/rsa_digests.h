// The property queries by which the digests of a signature are fetched. The default
// provider's context is begun with our own query, kFallbackProperties, and would use it for
// the digests as well. But for digests the application's query counts.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>

#include <string>
#include <vector>

#include "provider/fallback.h"
#include "provider/provider.h"

namespace lanecrypt::provider {

struct DigestQueries {
  // The query that the context was made with, for digests that are set without one.
  std::string general;
  // The queries of the digests that the default provider's context has now. Until a digest is
  // set, these are the ones that the key or the padding brings, fetched by our own query.
  std::string digest = kFallbackProperties, mgf1_digest = kFallbackProperties;
  // While this is false, MGF1 uses the digest itself.
  bool has_mgf1_digest = false;

  // Forgets the digests that were set, before another operation begins.
  void forget();
  // The general query, or kFallbackProperties if that finds no such digest. A query that
  // insists on our provider, which has no digests, finds the default provider's.
  const char *query_for(Provider &provider, const char *name) const;
  // `params` for the default provider's context, with a query for each digest. Notes them
  // here as if that context had taken them. May throw std::bad_alloc.
  std::vector<OSSL_PARAM> complete(Provider &provider, const OSSL_PARAM params[]);
  const std::string &query_of_mgf1() const { return has_mgf1_digest ? mgf1_digest : digest; }
};

// A parameter's text, or "" if it is no text, which OpenSSL's own implementation refuses.
std::string text_of(const OSSL_PARAM &param);

// Whether a signature's parameters set a digest.
bool sets_digest(const OSSL_PARAM params[]);

// The digest that a query finds. nullptr for the name "", and for one that is longer than
// OpenSSL allows.
EVP_MD *fetch_digest(Provider &provider, const char *name, const char *query);

}  // namespace lanecrypt::provider
