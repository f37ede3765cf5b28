// What OpenSSL makes of an RSA key; cpu/ alone looks inside.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cpu/openssl_object.h"
#include "cpu/rsa/rsa_image_cache.h"

namespace lanecrypt::cpu {

class OpensslKey {
 public:
  // It has its own lock: any number of threads may use one EVP_PKEY.
  Pkey pkey;
  mutable RsaImageCache images;
};

}  // namespace lanecrypt::cpu
