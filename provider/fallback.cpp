// Fetches and frees the default provider's algorithms that the provider falls back to.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/fallback.h"

#include <openssl/provider.h>

#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "libcrypto/forward.h"
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

namespace {

// Left lists the libcrypto objects that one provider still held when libcrypto was already cleaning
// up.
struct Left {
  std::vector<void *> objects;
  Left *next = nullptr;
};
std::atomic<Left *> left{nullptr};

// for_each_fallback() calls `end`(object, its free function) for every libcrypto object that the
// provider holds. The library context comes last, because the others belong to it.
template <typename End>
void for_each_fallback(Provider &provider, const End &end) {
  for (std::atomic<EVP_MD *> &place : provider.fallback_sha2) end(place.load(), EVP_MD_free);
  end(provider.fallback_shake256.load(), EVP_MD_free);
  for (std::atomic<EVP_KEYMGMT *> &place : provider.fallback_pq_keymgmt)
    end(place.load(), EVP_KEYMGMT_free);
  end(provider.fallback_poly1305.load(), EVP_MAC_free);
  for (std::atomic<EVP_KEYMGMT *> &place : provider.fallback_rsa_keymgmt)
    end(place.load(), EVP_KEYMGMT_free);
  end(provider.fallback_rsa_signature.load(), EVP_SIGNATURE_free);
  end(provider.fallback_rsa_cipher.load(), EVP_ASYM_CIPHER_free);
  end(provider.fallback_provider.load(), OSSL_PROVIDER_unload);
  end(provider.fallback, OSSL_LIB_CTX_free);
}

void leave_fallback(Provider &provider) {
  try {
    auto made = std::make_unique<Left>();
    for_each_fallback(provider, [&](void *object, auto) {
      if (object != nullptr) made->objects.push_back(object);
    });
    made->next = left.load();
    while (!left.compare_exchange_weak(made->next, made.get())) {
    }
    (void)made.release();
  } catch (const std::bad_alloc &) {
    // Without the list, a leak checker may report the objects.
  }
}

}  // namespace

void end_fallback(Provider &provider) {
  // The parent of our library context, or its locks, may already be freed.
  if (libcrypto_is_ending()) return leave_fallback(provider);
  for_each_fallback(provider, [](auto *object, auto free) {
    if (object != nullptr) free(object);
  });
}

}  // namespace lanecrypt::provider
