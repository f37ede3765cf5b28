// By which property queries the digests of a signature are fetched. The default
// provider's context is begun with a query of our own, kFallbackProperties, and
// would take it for the digests as well; what counts for these is what the
// application asked for.
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
  // What the context was made with: for digests that are set without a query.
  std::string general;
  // Of those that the default provider's context has now. Until one is set it has
  // what the key or the padding brings, fetched as all else of it.
  std::string digest = kFallbackProperties, mgf1_digest = kFallbackProperties;
  // Until then MGF1's is the digest itself.
  bool has_mgf1_digest = false;

  // Of what was set, before another operation begins.
  void forget();
  // The general query, or kFallbackProperties where that finds no such digest: one that
  // insists on our provider, which has none, has always found the default provider's.
  const char *query_for(Provider &provider, const char *name) const;
  // `params` for the default provider's context: with a query for each digest, which is
  // noted here as if they were taken already. May throw std::bad_alloc.
  std::vector<OSSL_PARAM> complete(Provider &provider, const OSSL_PARAM params[]);
  const std::string &query_of_mgf1() const { return has_mgf1_digest ? mgf1_digest : digest; }
};

// A text that a parameter holds; "" for another kind, which OpenSSL's own refuses.
std::string text_of(const OSSL_PARAM &param);

// Whether parameters of a signature set a digest.
bool sets_digest(const OSSL_PARAM params[]);

// The digest that a query finds; "": nullptr, and so is one longer than OpenSSL allows.
EVP_MD *fetch_digest(Provider &provider, const char *name, const char *query);

}  // namespace lanecrypt::provider
