// Incremental SHAKE256 by OpenSSL's default provider.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "provider/fallback.h"

namespace lanecrypt::provider {

// Shake256 computes 64 bytes of output, the length of ML-DSA's tr and mu.
class Shake256 {
 public:
  Shake256() = default;
  explicit Shake256(Provider &provider) : context_(EVP_MD_CTX_new()) {
    const EVP_MD *const method = fallback_shake256(provider);
    size_t bytes = 64;
    const OSSL_PARAM length[] = {
        {OSSL_DIGEST_PARAM_XOFLEN, OSSL_PARAM_UNSIGNED_INTEGER, &bytes, sizeof bytes, 0},
        OSSL_PARAM_END};
    if (context_ != nullptr && method != nullptr &&
        EVP_DigestInit_ex2(context_, method, length) == 1)
      return;
    EVP_MD_CTX_free(context_);
    context_ = nullptr;
  }
  Shake256(Shake256 &&other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
  Shake256 &operator=(Shake256 &&other) noexcept {
    std::swap(context_, other.context_);
    return *this;
  }
  ~Shake256() { EVP_MD_CTX_free(context_); }

  // Whether it is initialised.
  explicit operator bool() const { return context_ != nullptr; }
  // take() absorbs `count` bytes. It returns false on failure.
  bool take(const void *bytes, size_t count) {
    return context_ != nullptr && (count == 0 || EVP_DigestUpdate(context_, bytes, count) == 1);
  }
  // give() writes the output to `to` and ends the computation.
  bool give(std::array<uint8_t, 64> &to) {
    unsigned written = 0;
    const bool done = context_ != nullptr &&
                      EVP_DigestFinal_ex(context_, to.data(), &written) == 1 &&
                      written == to.size();
    EVP_MD_CTX_free(context_);
    context_ = nullptr;
    return done;
  }
  // copy() returns a copy of the current state, which is not initialised if there is no memory.
  Shake256 copy() const {
    Shake256 made;
    if (context_ == nullptr) return made;
    made.context_ = EVP_MD_CTX_new();
    if (made.context_ != nullptr && EVP_MD_CTX_copy_ex(made.context_, context_)) return made;
    EVP_MD_CTX_free(made.context_);
    made.context_ = nullptr;
    return made;
  }

 private:
  EVP_MD_CTX *context_ = nullptr;
};

}  // namespace lanecrypt::provider
