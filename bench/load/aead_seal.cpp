// SPDX-License-Identifier: Apache-2.0
#include "bench/load/aead_seal.h"

#include <fmt/format.h>

#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

[[noreturn]] void fail(const std::string &text) {
  throw cli::Failure(cli::ExitCode::kFailed, text);
}

}  // namespace

Seal::Seal(const char *cipher, const uint8_t *key, const Nonce &nonce, uint64_t bytes)
    : cipher_(EVP_CIPHER_fetch(nullptr, cipher, "provider=default")),
      context_(EVP_CIPHER_CTX_new()) {
  EVP_CIPHER_CTX *c = context_.get();
  const int nonce_bytes = static_cast<int>(nonce.size());
  const bool ccm = cipher_ && EVP_CIPHER_get_mode(cipher_.get()) == EVP_CIPH_CCM_MODE;
  int written = 0;
  if (!cipher_ || !c || EVP_EncryptInit_ex2(c, cipher_.get(), nullptr, nullptr, nullptr) != 1 ||
      EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_IVLEN, nonce_bytes, nullptr) != 1 ||
      (ccm && EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, 16, nullptr) != 1) ||
      EVP_EncryptInit_ex2(c, nullptr, key, nonce.data(), nullptr) != 1 ||
      (ccm && EVP_EncryptUpdate(c, nullptr, &written, nullptr, static_cast<int>(bytes)) != 1))
    fail(fmt::format("OpenSSL has no {}", cipher));
}

void Seal::update(const uint8_t *in, uint8_t *out, uint64_t bytes) {
  int written = 0;
  if (EVP_EncryptUpdate(context_.get(), out, &written, in, static_cast<int>(bytes)) != 1)
    fail("OpenSSL failed");
}

Tag Seal::finish() {
  Tag tag{};
  int written = 0;
  uint8_t nothing[16];
  if (EVP_EncryptFinal_ex(context_.get(), nothing, &written) != 1 ||
      EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, 16, tag.data()) != 1)
    fail("OpenSSL failed");
  return tag;
}

}  // namespace lanecrypt::bench
