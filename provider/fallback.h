// OpenSSL's default provider, which does all that stays on the CPU. Each of its algorithms
// is fetched once, and kept as long as our provider lives. Its ciphers are in
// fallback_cipher.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/err.h>
#include <openssl/evp.h>

#include "provider/provider.h"

namespace lanecrypt::provider {

// This query names only the default provider, whatever the application's default properties
// are: our child context has these too.
inline constexpr char kFallbackProperties[] = "provider=default,-fips";

// The library context in which EVP finds the default provider: the program's own, which
// already has its names and methods, or ours if the program has not loaded it. To make
// the names in ours takes millions of instructions. Any thread.
OSSL_LIB_CTX *library_of_fallback(Provider &provider);

// Each returns nullptr, with an error raised, if there is no default provider.
EVP_KEYMGMT *fallback_rsa_keymgmt(Provider &provider, bool pss);
EVP_SIGNATURE *fallback_rsa_signature(Provider &provider);
EVP_ASYM_CIPHER *fallback_rsa_cipher(Provider &provider);
EVP_MAC *fallback_poly1305(Provider &provider);
// By the number of its type in kPqTypes (pq/pq_type.h).
EVP_KEYMGMT *fallback_pq_keymgmt(Provider &provider, size_t type);
EVP_MD *fallback_shake256(Provider &provider);
// SHA-512, or SHA-256.
EVP_MD *fallback_sha2(Provider &provider, bool is_512);
// The default provider itself, or nullptr if it is not active in `library`. It lives as long
// as `library`.
const OSSL_PROVIDER *default_provider(OSSL_LIB_CTX *library);
// Loads the default provider into our library context, if the application's has none.
bool load_fallback_provider(Provider &provider);
// Frees the methods, the default provider and our library context. If libcrypto is ending, all of
// them stay as they are, and are noted where a leak checker finds them.
void end_fallback(Provider &provider);

// The first caller who needs a method fetches it. It would be too early while our provider
// loads: the default provider may not be there yet.
template <typename T, typename Fetch, typename Free>
T *fetch_once(Provider &provider, OSSL_LIB_CTX *library, std::atomic<T *> &place, const char *name,
              Fetch fetch, Free free) {
  T *method = place.load(std::memory_order_acquire);
  if (method != nullptr) return method;
  ERR_set_mark();
  method = fetch(library, name, kFallbackProperties);
  // An application may have loaded only our provider.
  if (method == nullptr && load_fallback_provider(provider))
    method = fetch(provider.fallback, name, kFallbackProperties);
  if (method == nullptr) {
    ERR_clear_last_mark();
    provider.errors.raise(Reason::kNoDefaultProvider, name);
    return nullptr;
  }
  ERR_pop_to_mark();
  T *before = nullptr;
  if (!place.compare_exchange_strong(before, method, std::memory_order_acq_rel)) {
    free(method);
    method = before;
  }
  return method;
}

// While it lives, errors are dropped. For calls that may fail.
class ErrorMark {
 public:
  ErrorMark() { ERR_set_mark(); }
  ~ErrorMark() { ERR_pop_to_mark(); }
  ErrorMark(const ErrorMark &) = delete;
};

}  // namespace lanecrypt::provider
