// SPDX-License-Identifier: Apache-2.0
#include "provider/fallback.h"

#include <openssl/provider.h>

namespace lanecrypt::provider {
bool load_fallback_provider(Provider &provider) {
  OSSL_PROVIDER *none = nullptr, *loaded = OSSL_PROVIDER_load(provider.fallback, "default");
  if (loaded != nullptr && !provider.fallback_provider.compare_exchange_strong(none, loaded))
    OSSL_PROVIDER_unload(loaded);
  return provider.fallback_provider != nullptr;
}

EVP_KEYMGMT *fallback_rsa_keymgmt(Provider &provider, bool pss) {
  return fetch_once(provider, provider.fallback_rsa_keymgmt[pss ? 1 : 0], pss ? "RSA-PSS" : "RSA",
                    EVP_KEYMGMT_fetch, EVP_KEYMGMT_free);
}

EVP_SIGNATURE *fallback_rsa_signature(Provider &provider) {
  return fetch_once(provider, provider.fallback_rsa_signature, "RSA", EVP_SIGNATURE_fetch,
                    EVP_SIGNATURE_free);
}

EVP_ASYM_CIPHER *fallback_rsa_cipher(Provider &provider) {
  return fetch_once(provider, provider.fallback_rsa_cipher, "RSA", EVP_ASYM_CIPHER_fetch,
                    EVP_ASYM_CIPHER_free);
}

EVP_MAC *fallback_poly1305(Provider &provider) {
  return fetch_once(provider, provider.fallback_poly1305, "POLY1305", EVP_MAC_fetch, EVP_MAC_free);
}

void free_fallbacks(Provider &provider) {
  EVP_MAC_free(provider.fallback_poly1305);
  for (std::atomic<EVP_KEYMGMT *> &place : provider.fallback_rsa_keymgmt) EVP_KEYMGMT_free(place);
  EVP_SIGNATURE_free(provider.fallback_rsa_signature);
  EVP_ASYM_CIPHER_free(provider.fallback_rsa_cipher);
}

}  // namespace lanecrypt::provider
