// A hash of OpenSSL's default provider, again and again.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>

#include "job/hash_method.h"
#include "job/status.h"

namespace lanecrypt::cpu {

// One thread.
class OpensslHash {
 public:
  explicit OpensslHash(const HashMethod &method);
  // The hash of all parts, one after the other. `to` has its length, which for SHAKE may be any.
  Status run(std::initializer_list<std::span<const uint8_t>> parts, std::span<uint8_t> to);

 private:
  struct Free {
    void operator()(EVP_MD_CTX *context) const { EVP_MD_CTX_free(context); }
  };
  const bool has_length_;
  const EVP_MD *const digest_;
  const std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace lanecrypt::cpu
