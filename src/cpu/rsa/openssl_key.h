// OpenSSL's form of an RSA key. Only src/cpu uses its contents.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cpu/openssl_object.h"
#include "cpu/rsa/rsa_image_cache.h"

namespace lanecrypt::cpu {

class OpensslKey {
 public:
  // Thread-safe: an EVP_PKEY has its own lock.
  Pkey pkey;
  mutable RsaImageCache images;
};

}  // namespace lanecrypt::cpu
