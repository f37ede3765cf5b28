// The ciphers that the command knows, by OpenSSL's names.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "job/cipher/mode.h"
#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::cli {

constexpr size_t kBlockBytes = 16;
using Block = std::array<uint8_t, kBlockBytes>;

struct BlockCipherMode {
  std::string name;  // "aes-256-ctr"
  lc_cipher mode;
  uint32_t key_bytes;

  Way way() const { return mode_of(mode).way; }
  size_t iv_bytes() const { return way() == Way::kEcb ? 0 : kBlockBytes; }
  bool pads() const { return way() != Way::kCtr; }
};

// By name, in any case: "aes-128-cbc", or OpenSSL's short forms "aes128",
// "camellia256" and "sm4" for CBC.
std::optional<BlockCipherMode> find_cipher(std::string_view name);
// All names.
std::vector<std::string> cipher_names();

struct FreeEvpCipher {
  void operator()(EVP_CIPHER *cipher) const { EVP_CIPHER_free(cipher); }
};
struct FreeEvpContext {
  void operator()(EVP_CIPHER_CTX *context) const { EVP_CIPHER_CTX_free(context); }
};
using EvpCipher = std::unique_ptr<EVP_CIPHER, FreeEvpCipher>;
using EvpContext = std::unique_ptr<EVP_CIPHER_CTX, FreeEvpContext>;

// OpenSSL's own implementation on the CPU, the default provider's.
EvpCipher fetch_cpu_cipher(const BlockCipherMode &cipher);

}  // namespace lanecrypt::cli
