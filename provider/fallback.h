// OpenSSL's default provider, which does everything that stays on the CPU. Each of its algorithms
// is fetched once and kept as long as our provider lives. Its ciphers are in fallback_cipher.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/err.h>
#include <openssl/evp.h>

#include "provider/provider.h"

namespace lanecrypt::provider {

// kFallbackProperties is the property query of every fetch. It names the default provider, because
// our child library context also inherits the application's default properties.
inline constexpr char kFallbackProperties[] = "provider=default,-fips";

// library_of_fallback() returns the library context in which EVP fetches from the default provider.
// That is the program's own, if it has the default provider: its names and methods are already
// constructed there. Otherwise it is our child context, in which their construction takes millions
// of instructions. Thread-safe.
OSSL_LIB_CTX *library_of_fallback(Provider &provider);

// The following functions return the fetched method, which the provider owns. They return nullptr,
// with an error raised, if there is no default provider. Thread-safe.
EVP_KEYMGMT *fallback_rsa_keymgmt(Provider &provider, bool pss);
EVP_SIGNATURE *fallback_rsa_signature(Provider &provider);
EVP_ASYM_CIPHER *fallback_rsa_cipher(Provider &provider);
EVP_MAC *fallback_poly1305(Provider &provider);
// `type` is an index into kPqTypes (pq/pq_type.h).
EVP_KEYMGMT *fallback_pq_keymgmt(Provider &provider, size_t type);
EVP_MD *fallback_shake256(Provider &provider);
// fallback_sha2() returns SHA-512 if `is_512`, else SHA-256.
EVP_MD *fallback_sha2(Provider &provider, bool is_512);
// default_provider() returns the default provider, or nullptr if it is not active in `library`. It
// lives as long as `library`.
const OSSL_PROVIDER *default_provider(OSSL_LIB_CTX *library);
// load_fallback_provider() loads the default provider into our child library context, for an
// application that has not loaded it.
bool load_fallback_provider(Provider &provider);
// end_fallback() frees the methods, the default provider and our library context. If libcrypto is
// cleaning up, it frees none of them, and instead lists them where a leak checker finds them.
void end_fallback(Provider &provider);

// fetch_once() returns the method in `place`, which the first caller fetches. The provider does not
// fetch while it loads, because the default provider may not be loaded yet.
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

// ErrorMark removes, when it is destroyed, all errors raised during its lifetime. It encloses calls
// that may fail.
class ErrorMark {
 public:
  ErrorMark() { ERR_set_mark(); }
  ~ErrorMark() { ERR_pop_to_mark(); }
  ErrorMark(const ErrorMark &) = delete;
};

}  // namespace lanecrypt::provider
