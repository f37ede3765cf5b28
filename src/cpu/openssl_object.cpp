// SPDX-License-Identifier: Apache-2.0
#include "cpu/openssl_object.h"

#include <new>

#include "libcrypto/forward.h"

namespace lanecrypt::cpu {

OSSL_LIB_CTX *private_library() {
  static OSSL_LIB_CTX *const library = []() -> OSSL_LIB_CTX * {
    if (!bind_libcrypto_of_process().ok()) return nullptr;
    OSSL_LIB_CTX *const made = OSSL_LIB_CTX_new();
    // Without one OpenSSL would take the program's own.
    if (made == nullptr) throw std::bad_alloc();
    return made;
  }();
  return library;
}

}  // namespace lanecrypt::cpu
