// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <openssl/evp.h>
#include <openssl/provider.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

namespace lanecrypt::test {
namespace {

// A library context of our own, so that no configuration reaches it.
OSSL_LIB_CTX *default_only() {
  static OSSL_LIB_CTX *context = [] {
    OSSL_LIB_CTX *made = OSSL_LIB_CTX_new();
    if (!made || !OSSL_PROVIDER_load(made, "default"))
      throw std::runtime_error("OpenSSL's default provider does not load");
    return made;
  }();
  return context;
}

EVP_CIPHER *fetched(lc_cipher cipher, uint32_t key_bytes) {
  struct All {
    EVP_CIPHER *of[3][3];
    All() {
      const char *modes[] = {"ECB", "CBC", "CTR"};
      const char *sizes[] = {"128", "192", "256"};
      for (int mode = 0; mode < 3; mode++)
        for (int size = 0; size < 3; size++) {
          std::string name = std::string("AES-") + sizes[size] + "-" + modes[mode];
          of[mode][size] = EVP_CIPHER_fetch(default_only(), name.c_str(), "provider=default");
          if (!of[mode][size]) throw std::runtime_error("OpenSSL has no " + name);
        }
    }
  };
  static All all;
  return all.of[cipher][key_bytes / 8 - 2];
}

struct FreeContext {
  void operator()(EVP_CIPHER_CTX *context) const { EVP_CIPHER_CTX_free(context); }
};

}  // namespace

void reference_crypt(lc_cipher cipher, lc_direction direction, uint32_t key_bytes,
                     const uint8_t *key, const uint8_t *iv, const uint8_t *in, uint8_t *out,
                     uint64_t length) {
  EVP_CIPHER *evp = fetched(cipher, key_bytes);
  std::unique_ptr<EVP_CIPHER_CTX, FreeContext> context(EVP_CIPHER_CTX_new());
  if (!context ||
      !EVP_CipherInit_ex2(context.get(), evp, key, cipher == LC_AES_ECB ? nullptr : iv,
                          direction == LC_ENCRYPT, nullptr) ||
      !EVP_CIPHER_CTX_set_padding(context.get(), 0))
    throw std::runtime_error("OpenSSL refuses the key or IV");
  constexpr uint64_t kMost = 1u << 30;  // EVP counts in int
  while (length > 0) {
    int now = static_cast<int>(std::min(length, kMost)), written = 0;
    if (!EVP_CipherUpdate(context.get(), out, &written, in, now) || written != now)
      throw std::runtime_error("OpenSSL refuses the text");
    in += now;
    out += now;
    length -= now;
  }
}

}  // namespace lanecrypt::test
