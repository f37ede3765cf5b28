// OpenSSL's default provider, by which all is done that stays on the CPU: what
// of its RSA was fetched once, for as long as our provider lives.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/err.h>
#include <openssl/evp.h>

#include "provider/provider.h"

namespace lanecrypt::provider {

// The default provider alone, whatever the application prefers.
inline constexpr char kFallbackProperties[] = "provider=default";

// Each nullptr, with an error raised, where the default provider cannot be had.
EVP_KEYMGMT *fallback_rsa_keymgmt(Provider &provider, bool pss);
EVP_SIGNATURE *fallback_rsa_signature(Provider &provider);
EVP_ASYM_CIPHER *fallback_rsa_cipher(Provider &provider);
EVP_MAC *fallback_poly1305(Provider &provider);
// What of it the application's library context lacks is loaded into ours.
bool load_fallback_provider(Provider &provider);
void free_fallbacks(Provider &provider);

// Drops the errors that are raised while it lives, by what may fail.
class ErrorMark {
 public:
  ErrorMark() { ERR_set_mark(); }
  ~ErrorMark() { ERR_pop_to_mark(); }
  ErrorMark(const ErrorMark &) = delete;
};

}  // namespace lanecrypt::provider
