// A hash of OpenSSL's default provider, again and again.
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

// One thread.
class OpensslHash {
 public:
  // name: as OpenSSL has it, of a hash of SHA-2 or SHA-3.
  explicit OpensslHash(const char *name);
  // The hash of all parts, one after the other. `to` has its length, which for SHAKE may be any.
  Status run(std::initializer_list<std::span<const uint8_t>> parts, std::span<uint8_t> to);

 private:
  const bool has_length_;
  const EVP_MD *const digest_;
  const Object<EVP_MD_CTX, EVP_MD_CTX_free> context_;
};

}  // namespace lanecrypt::cpu
