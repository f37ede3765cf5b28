// Owning pointers to OpenSSL objects.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/bn.h>
#include <openssl/evp.h>

#include <cstdint>
#include <memory>
#include <span>

#include "job/status.h"

namespace lanecrypt::cpu {

template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T *object) const {
    kFree(object);
  }
};
template <typename T, auto kFree>
using Object = std::unique_ptr<T, Free<kFree>>;

using CipherContext = Object<EVP_CIPHER_CTX, EVP_CIPHER_CTX_free>;
using PkeyContext = Object<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using Pkey = Object<EVP_PKEY, EVP_PKEY_free>;
using Number = Object<BIGNUM, BN_clear_free>;
using NumberContext = Object<BN_CTX, BN_CTX_free>;
using Montgomery = Object<BN_MONT_CTX, BN_MONT_CTX_free>;

inline Number number_of(std::span<const uint8_t> big_endian) {
  return Number(BN_bin2bn(big_endian.data(), static_cast<int>(big_endian.size()), nullptr));
}

// Returns Lanecrypt's own library context, so that neither the application's configuration nor the
// provider `gpu` has an effect. It is made once and never freed, because libcrypto may be cleaned
// up earlier at exit. Returns nullptr if there is no libcrypto. Throws std::bad_alloc.
OSSL_LIB_CTX *private_library();

inline Status openssl_failed() { return Status(LC_ERROR_INTERNAL, "OpenSSL failed on the CPU"); }

}  // namespace lanecrypt::cpu
