// SPDX-License-Identifier: Apache-2.0
#include "cpu/openssl_object.h"

#include <openssl/evp.h>

#include <atomic>
#include <new>

#include "libcrypto/forward.h"

namespace lanecrypt::cpu {

OSSL_LIB_CTX *private_library() {
  // Without a lock, not even that of a static object's initialization: a child of fork would wait
  // for a thread of its parent's.
  static std::atomic<OSSL_LIB_CTX *> library{nullptr};
  OSSL_LIB_CTX *known = library.load(std::memory_order_acquire);
  if (known != nullptr || !bind_libcrypto_of_process().ok()) return known;
  OSSL_LIB_CTX *const made = OSSL_LIB_CTX_new();
  // Without one OpenSSL would take the program's own.
  if (made == nullptr) throw std::bad_alloc();
  // The first fetch has the provider begin, with locks held for milliseconds. A child must not
  // inherit these in what it uses too.
  EVP_MD_free(EVP_MD_fetch(made, "SHA2-256", "provider=default"));
  if (library.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made;
  OSSL_LIB_CTX_free(made);  // another thread came first
  return known;
}

}  // namespace lanecrypt::cpu
