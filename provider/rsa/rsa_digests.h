// The property queries with which the digests of a signature are fetched. The default provider's
// context is created with our own query, kFallbackProperties, and would use it for the digests as
// well. But digests must be fetched by the application's query.
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
  // The query with which the signature context was created. It applies to digests that are set
  // without a query.
  std::string general;
  // The queries of the digests that the default provider's context has now. Until a digest is set,
  // these are the digests of the key or of the padding, which our own query fetches.
  std::string digest = kFallbackProperties, mgf1_digest = kFallbackProperties;
  // While this is false, MGF1 uses the digest itself.
  bool has_mgf1_digest = false;

  // forget() forgets the digests that were set, before another operation begins.
  void forget();
  // query_for() returns the general query, or kFallbackProperties if that finds no such digest. A
  // query that requires our provider, which has no digests, thereby finds the default provider's.
  const char *query_for(Provider &provider, const char *name) const;
  // complete() returns `params` for the default provider's context, with a query for each digest,
  // and notes these queries as if that context had accepted them. The result points into `params`
  // and *this. It may throw std::bad_alloc.
  std::vector<OSSL_PARAM> complete(Provider &provider, const OSSL_PARAM params[]);
  const std::string &query_of_mgf1() const { return has_mgf1_digest ? mgf1_digest : digest; }
};

// text_of() returns the text of `param`, or "" if it is no text, which OpenSSL's own implementation
// then refuses.
std::string text_of(const OSSL_PARAM &param);

// sets_digest() says whether a signature's parameters set a digest.
bool sets_digest(const OSSL_PARAM params[]);

// fetch_digest() fetches a digest, which the caller frees. It returns nullptr for the name "", and
// for a digest longer than EVP_MAX_MD_SIZE.
EVP_MD *fetch_digest(Provider &provider, const char *name, const char *query);

}  // namespace lanecrypt::provider
