// SPDX-License-Identifier: Apache-2.0
#include "provider/fallback.h"

#include <openssl/provider.h>

#include <cstring>
#include <type_traits>

#include "provider/pq/pq_type.h"

namespace lanecrypt::provider {
const OSSL_PROVIDER *default_provider(OSSL_LIB_CTX *library) {
  const OSSL_PROVIDER *found = nullptr;
  const auto look = [](OSSL_PROVIDER *provider, void *place) noexcept {
    const char *const name = OSSL_PROVIDER_get0_name(provider);
    if (name == nullptr || std::strcmp(name, "default") != 0) return 1;
    *static_cast<const OSSL_PROVIDER **>(place) = provider;
    return 0;
  };
  OSSL_PROVIDER_do_all(library, look, &found);
  return found;
}

bool load_fallback_provider(Provider &provider) {
  OSSL_PROVIDER *none = nullptr, *loaded = OSSL_PROVIDER_load(provider.fallback, "default");
  if (loaded != nullptr && !provider.fallback_provider.compare_exchange_strong(none, loaded))
    OSSL_PROVIDER_unload(loaded);
  return provider.fallback_provider != nullptr;
}

OSSL_LIB_CTX *library_of_fallback(Provider &provider) {
  int has = provider.program_has_default.load(std::memory_order_relaxed);
  if (has == 0) {
    has = OSSL_PROVIDER_available(provider.program, "default") == 1 ? 1 : -1;
    provider.program_has_default.store(has, std::memory_order_relaxed);
  }
  return has > 0 ? provider.program : provider.fallback;
}

EVP_KEYMGMT *fallback_rsa_keymgmt(Provider &provider, bool pss) {
  return fetch_once(provider, library_of_fallback(provider),
                    provider.fallback_rsa_keymgmt[pss ? 1 : 0], pss ? "RSA-PSS" : "RSA",
                    EVP_KEYMGMT_fetch, EVP_KEYMGMT_free);
}

EVP_SIGNATURE *fallback_rsa_signature(Provider &provider) {
  return fetch_once(provider, library_of_fallback(provider), provider.fallback_rsa_signature, "RSA",
                    EVP_SIGNATURE_fetch, EVP_SIGNATURE_free);
}

EVP_ASYM_CIPHER *fallback_rsa_cipher(Provider &provider) {
  return fetch_once(provider, library_of_fallback(provider), provider.fallback_rsa_cipher, "RSA",
                    EVP_ASYM_CIPHER_fetch, EVP_ASYM_CIPHER_free);
}

EVP_MAC *fallback_poly1305(Provider &provider) {
  return fetch_once(provider, library_of_fallback(provider), provider.fallback_poly1305, "POLY1305",
                    EVP_MAC_fetch, EVP_MAC_free);
}

EVP_KEYMGMT *fallback_pq_keymgmt(Provider &provider, size_t type) {
  static_assert(std::size(kPqTypes) == std::extent_v<decltype(Provider::fallback_pq_keymgmt)>);
  return fetch_once(provider, library_of_fallback(provider), provider.fallback_pq_keymgmt[type],
                    kPqTypes[type].name, EVP_KEYMGMT_fetch, EVP_KEYMGMT_free);
}

EVP_MD *fallback_shake256(Provider &provider) {
  return fetch_once(provider, library_of_fallback(provider), provider.fallback_shake256, "SHAKE256",
                    EVP_MD_fetch, EVP_MD_free);
}

EVP_MD *fallback_sha2(Provider &provider, bool is_512) {
  return fetch_once(provider, library_of_fallback(provider), provider.fallback_sha2[is_512 ? 1 : 0],
                    is_512 ? "SHA2-512" : "SHA2-256", EVP_MD_fetch, EVP_MD_free);
}

void free_fallbacks(Provider &provider) {
  for (std::atomic<EVP_MD *> &place : provider.fallback_sha2) EVP_MD_free(place);
  EVP_MD_free(provider.fallback_shake256);
  for (std::atomic<EVP_KEYMGMT *> &place : provider.fallback_pq_keymgmt) EVP_KEYMGMT_free(place);
  EVP_MAC_free(provider.fallback_poly1305);
  for (std::atomic<EVP_KEYMGMT *> &place : provider.fallback_rsa_keymgmt) EVP_KEYMGMT_free(place);
  EVP_SIGNATURE_free(provider.fallback_rsa_signature);
  EVP_ASYM_CIPHER_free(provider.fallback_rsa_cipher);
}

}  // namespace lanecrypt::provider
