// A hash of OpenSSL's default provider, for repeated use.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <initializer_list>
#include <span>

#include "cpu/openssl_object.h"
#include "job/status.h"

namespace lanecrypt::cpu {

// `OpensslHash` computes a hash of OpenSSL. Not thread-safe.
class OpensslHash {
 public:
  // `name` is OpenSSL's name of a SHA-2 or SHA-3 hash.
  explicit OpensslHash(const char *name);
  // Computes the hash of the concatenated parts. `to` has the hash's length, which for SHAKE may be
  // any.
  Status run(std::initializer_list<std::span<const uint8_t>> parts, std::span<uint8_t> to);

 private:
  const bool has_length_;
  const EVP_MD *const digest_;
  const Object<EVP_MD_CTX, EVP_MD_CTX_free> context_;
};

}  // namespace lanecrypt::cpu
