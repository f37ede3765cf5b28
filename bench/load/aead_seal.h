// What OpenSSL makes of a message of an authenticated mode, for benchmarks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "cli/crypt/block_cipher_mode.h"

namespace lanecrypt::bench {

using Tag = std::array<uint8_t, 16>;
using Nonce = std::array<uint8_t, 12>;

// OpenSSL's default provider, which encrypts one message of `bytes`: in parts, with CCM
// at once. Throws Failure (kFailed).
class Seal {
 public:
  // `cipher` by OpenSSL's name: "AES-128-GCM".
  Seal(const char *cipher, const uint8_t *key, const Nonce &nonce, uint64_t bytes);
  void update(const uint8_t *in, uint8_t *out, uint64_t bytes);
  Tag finish();

 private:
  cli::EvpCipher cipher_;
  cli::EvpContext context_;
};

}  // namespace lanecrypt::bench
