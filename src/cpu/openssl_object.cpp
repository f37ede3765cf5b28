// SPDX-License-Identifier: Apache-2.0
#include "cpu/openssl_object.h"

#include <openssl/evp.h>

#include <atomic>
#include <new>

#include "libcrypto/forward.h"

namespace lanecrypt::cpu {

OSSL_LIB_CTX *private_library() {
  // There is no lock, not even that of a static object's initialization: a child of fork() would
  // wait for a thread of its parent.
  static std::atomic<OSSL_LIB_CTX *> library{nullptr};
  OSSL_LIB_CTX *known = library.load(std::memory_order_acquire);
  if (known != nullptr || !bind_libcrypto_of_process().ok()) return known;
  OSSL_LIB_CTX *const made = OSSL_LIB_CTX_new();
  // With a null context OpenSSL would use the program's own.
  if (made == nullptr) throw std::bad_alloc();
  // The first fetch starts the provider, with locks held for milliseconds. A child of fork() must
  // not inherit held locks in what it uses too.
  EVP_MD_free(EVP_MD_fetch(made, "SHA2-256", "provider=default"));
  if (library.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made;
  OSSL_LIB_CTX_free(made);  // another thread was faster
  return known;
}

}  // namespace lanecrypt::cpu
