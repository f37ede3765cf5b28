// Finds the ciphers in the default provider's dispatch tables, and makes contexts of them.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/cipher/fallback_cipher.h"

#include <openssl/provider.h>
#include <strings.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include "provider/cipher/algorithms.h"
#include "provider/fallback.h"

namespace lanecrypt::provider {
namespace {

struct ReleaseCipher {
  void operator()(const FallbackCipher *cipher) const {
    if (cipher->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    delete cipher;
  }
};

// begins_with_name() says whether `name` is the first of `names`, which colons separate. Our first
// name is OpenSSL's first name too. The check is cheap because a program that lists all ciphers
// makes us search for each of ours among all of OpenSSL's.
bool begins_with_name(const char *names, std::string_view name) {
  return strncasecmp(names, name.data(), name.size()) == 0 &&
         (names[name.size()] == ':' || names[name.size()] == '\0');
}

// take_functions() copies the functions of a dispatch table. It returns false if a function that
// EVP would need is missing.
bool take_functions(FallbackCipher &cipher, const OSSL_DISPATCH *entry) {
  using Function = void (*)();
  const struct {
    int id;
    void *place;
  } wanted[] = {
      {OSSL_FUNC_CIPHER_NEWCTX, &cipher.newctx},
      {OSSL_FUNC_CIPHER_FREECTX, &cipher.freectx},
      {OSSL_FUNC_CIPHER_DUPCTX, &cipher.dupctx},
      {OSSL_FUNC_CIPHER_ENCRYPT_INIT, &cipher.encrypt_init},
      {OSSL_FUNC_CIPHER_DECRYPT_INIT, &cipher.decrypt_init},
      {OSSL_FUNC_CIPHER_UPDATE, &cipher.update},
      {OSSL_FUNC_CIPHER_FINAL, &cipher.final},
      {OSSL_FUNC_CIPHER_CIPHER, &cipher.cipher},
      {OSSL_FUNC_CIPHER_GET_CTX_PARAMS, &cipher.get_ctx_params},
      {OSSL_FUNC_CIPHER_SET_CTX_PARAMS, &cipher.set_ctx_params},
      {OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS, &cipher.gettable_ctx_params},
      {OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS, &cipher.settable_ctx_params},
  };
  for (; entry->function_id != 0; ++entry)
    for (const auto &one : wanted)
      if (one.id == entry->function_id) std::memcpy(one.place, &entry->function, sizeof(Function));
  return cipher.newctx != nullptr && cipher.freectx != nullptr && cipher.encrypt_init != nullptr &&
         cipher.decrypt_init != nullptr && cipher.update != nullptr && cipher.final != nullptr &&
         cipher.cipher != nullptr && cipher.get_ctx_params != nullptr &&
         cipher.set_ctx_params != nullptr && cipher.gettable_ctx_params != nullptr &&
         cipher.settable_ctx_params != nullptr;
}

// ask_functions() queries the default provider directly. EVP would first construct an EVP_CIPHER
// for each cipher of every provider, which adds a millisecond to each program's start. The
// provider's tables may be invalid after OSSL_PROVIDER_unquery_operation(). Its functions stay
// valid as long as the provider.
bool ask_functions(FallbackCipher &cipher, OSSL_LIB_CTX *library, const char *name) {
  const OSSL_PROVIDER *const from = default_provider(library);
  int no_cache = 0;
  const OSSL_ALGORITHM *const all =
      from == nullptr ? nullptr : OSSL_PROVIDER_query_operation(from, OSSL_OP_CIPHER, &no_cache);
  if (all == nullptr) return false;
  const OSSL_ALGORITHM *one = all;
  while (one->algorithm_names != nullptr && !begins_with_name(one->algorithm_names, name)) ++one;
  const bool found = one->algorithm_names != nullptr && take_functions(cipher, one->implementation);
  OSSL_PROVIDER_unquery_operation(from, OSSL_OP_CIPHER, all);
  cipher.provider_context = OSSL_PROVIDER_get0_provider_ctx(from);
  return found;
}

}  // namespace

const FallbackCipher *fallback_cipher(Provider &provider, int index) {
  std::atomic<FallbackCipher *> &place = provider.fallback_ciphers[index];
  // Every context calls this, so the fast path needs no name.
  if (const FallbackCipher *cipher = place.load(std::memory_order_acquire); cipher != nullptr)
    return cipher;
  const Algorithm &algorithm = kAlgorithms[index];
  char name[32] = "";
  std::strncpy(name, algorithm.names,
               std::min(std::strcspn(algorithm.names, ":"), sizeof name - 1));
  const auto fetch = [&](OSSL_LIB_CTX *library, const char *what, const char *) {
    std::unique_ptr<FallbackCipher, ReleaseCipher> cipher(new (std::nothrow) FallbackCipher{});
    if (cipher == nullptr) return cipher.release();
    cipher->room_bytes = algorithm.block_bytes == 1 ? 0 : algorithm.block_bytes;
    return ask_functions(*cipher, library, what) ? cipher.release() : nullptr;
  };
  return fetch_once(provider, provider.fallback, place, name, fetch, ReleaseCipher());
}

void release_fallback_ciphers(Provider &provider) {
  for (std::atomic<FallbackCipher *> &place : provider.fallback_ciphers)
    if (const FallbackCipher *cipher = place.load(); cipher != nullptr) ReleaseCipher()(cipher);
}

bool FallbackContext::make(Provider &provider, int index) {
  *this = {};
  of = fallback_cipher(provider, index);
  if (of == nullptr) return false;
  state = of->newctx(of->provider_context);
  if (state == nullptr) return false;
  of->owners.fetch_add(1, std::memory_order_relaxed);
  // EVP does the same before it has a key.
  return init(nullptr, 0, nullptr, 0, false);
}

bool FallbackContext::make_copy_of(const FallbackContext &other) {
  *this = other;
  state = of == nullptr || of->dupctx == nullptr ? nullptr : of->dupctx(other.state);
  if (state == nullptr) return false;
  of->owners.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void FallbackContext::free() {
  if (state == nullptr) return;
  of->freectx(state);
  state = nullptr;
  ReleaseCipher()(of);
}

}  // namespace lanecrypt::provider
