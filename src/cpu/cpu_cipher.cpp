// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_cipher.h"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>

#include "libcrypto/forward.h"

namespace lanecrypt::cpu {
namespace {

template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T *object) const {
    kFree(object);
  }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, Free<EVP_CIPHER_CTX_free>>;

// The nine ciphers, fetched once. Never freed: at exit libcrypto may have gone
// first.
struct Ciphers {
  Status status;
  OSSL_LIB_CTX *library = nullptr;
  EVP_CIPHER *by_kind[3][3] = {};

  Ciphers() {
    status = bind_libcrypto_of_process();
    if (!status.ok()) return;
    library = OSSL_LIB_CTX_new();
    static const char *const kNames[3][3] = {{"AES-128-ECB", "AES-192-ECB", "AES-256-ECB"},
                                             {"AES-128-CBC", "AES-192-CBC", "AES-256-CBC"},
                                             {"AES-128-CTR", "AES-192-CTR", "AES-256-CTR"}};
    for (int mode = 0; mode < 3; ++mode) {
      for (int size = 0; size < 3; ++size) {
        by_kind[mode][size] = EVP_CIPHER_fetch(library, kNames[mode][size], "provider=default");
        if (by_kind[mode][size] == nullptr)
          status = Status(LC_ERROR_INTERNAL, std::string("OpenSSL's default provider offers no ") +
                                                 kNames[mode][size]);
      }
    }
  }
};

const Ciphers &ciphers() {
  static const Ciphers *const all = new Ciphers();
  return *all;
}

Status failed() { return Status(LC_ERROR_INTERNAL, "OpenSSL failed on the CPU"); }

}  // namespace

Status run_cipher(const CipherKind &kind, const uint8_t *key, const Iv &iv, const uint8_t *in,
                  uint8_t *out, uint64_t length) {
  const Ciphers &all = ciphers();
  if (!all.status.ok()) return all.status;
  const CipherContext context(EVP_CIPHER_CTX_new());
  if (!context) return Status(LC_ERROR_MEMORY, "no memory for a cipher on the CPU");
  if (EVP_CipherInit_ex2(context.get(), all.by_kind[kind.cipher][kind.key_bytes / 8 - 2], key,
                         kind.cipher == LC_AES_ECB ? nullptr : iv.data(),
                         kind.direction == LC_ENCRYPT, nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(context.get(), 0) != 1)
    return failed();
  // OpenSSL counts bytes in an int.
  constexpr uint64_t kMost = 1 << 30;
  for (uint64_t at = 0; at < length;) {
    const int bytes = static_cast<int>(std::min(kMost, length - at));
    int written = 0;
    if (EVP_CipherUpdate(context.get(), out + at, &written, in + at, bytes) != 1 ||
        written != bytes)
      return failed();
    at += bytes;
  }
  return Status();
}

}  // namespace lanecrypt::cpu
