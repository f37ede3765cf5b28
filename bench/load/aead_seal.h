// Encrypts messages of AEAD modes by OpenSSL, to check the outputs of benchmarks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "cli/crypt/block_cipher_mode.h"

namespace lanecrypt::bench {

using Tag = std::array<uint8_t, 16>;
using Nonce = std::array<uint8_t, 12>;

// One message of `bytes` that OpenSSL's default provider encrypts: in several updates, or in one
// update for CCM. Throws Failure (kFailed).
class Seal {
 public:
  // `cipher` is OpenSSL's name, such as "AES-128-GCM".
  Seal(const char *cipher, const uint8_t *key, const Nonce &nonce, uint64_t bytes);
  void update(const uint8_t *in, uint8_t *out, uint64_t bytes);
  Tag finish();

 private:
  cli::EvpCipher cipher_;
  cli::EvpContext context_;
};

}  // namespace lanecrypt::bench
