// The ciphers of `lanecrypt enc` and `lanecrypt dec`, by OpenSSL's names.
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

#include "job/cipher/cipher_info.h"
#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::cli {

constexpr size_t kBlockBytes = 16;
using Block = std::array<uint8_t, kBlockBytes>;

struct BlockCipherMode {
  std::string name;  // "aes-256-ctr"
  lc_cipher mode;
  uint32_t key_bytes;

  Mode block_mode() const { return cipher_info(mode).mode; }
  size_t iv_bytes() const { return block_mode() == Mode::kEcb ? 0 : kBlockBytes; }
  bool pads() const { return block_mode() != Mode::kCtr; }
};

// Finds a cipher by its name in any case, such as "aes-128-cbc", or by one of OpenSSL's short names
// for CBC, such as "aes128", "camellia256" and "sm4".
std::optional<BlockCipherMode> find_cipher(std::string_view name);
// Returns the names of all ciphers.
std::vector<std::string> cipher_names();

struct FreeEvpCipher {
  void operator()(EVP_CIPHER *cipher) const { EVP_CIPHER_free(cipher); }
};
struct FreeEvpContext {
  void operator()(EVP_CIPHER_CTX *context) const { EVP_CIPHER_CTX_free(context); }
};
using EvpCipher = std::unique_ptr<EVP_CIPHER, FreeEvpCipher>;
using EvpContext = std::unique_ptr<EVP_CIPHER_CTX, FreeEvpContext>;

// Fetches the CPU implementation of OpenSSL's default provider. Throws Failure if it has none.
EvpCipher fetch_cpu_cipher(const BlockCipherMode &cipher);

}  // namespace lanecrypt::cli
