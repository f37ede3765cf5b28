// SPDX-License-Identifier: Apache-2.0
#include "cli/crypt/block_cipher_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "cli/failure.h"

namespace lanecrypt::cli {
namespace {

constexpr uint32_t kKeyBytes[] = {16, 24, 32};

std::string lower(std::string_view name) {
  std::string made(name);
  std::transform(made.begin(), made.end(), made.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

// Returns ECB, CBC and CTR of every block cipher, with every key length.
std::vector<BlockCipherMode> all_ciphers() {
  std::vector<BlockCipherMode> all;
  for (const BlockCipher &block : kBlockCiphers)
    for (const uint32_t key_bytes : kKeyBytes)
      for (const Mode mode : {Mode::kEcb, Mode::kCbc, Mode::kCtr}) {
        const CipherInfo &info = cipher_info(another_mode(block.first, mode));
        if (info.takes_key(key_bytes))
          all.push_back({lower(info.openssl_name(key_bytes)), info.cipher, key_bytes});
      }
  return all;
}

// Returns OpenSSL's short name for CBC, such as "aes128" or "sm4".
std::string short_name(const BlockCipher &block, uint32_t key_bytes) {
  return block.names_bits() ? fmt::format("{}{}", block.name, 8 * key_bytes) : block.name;
}

}  // namespace

std::optional<BlockCipherMode> find_cipher(std::string_view name) {
  std::string wanted = lower(name);
  for (const BlockCipher &block : kBlockCiphers)
    for (const uint32_t key_bytes : kKeyBytes)
      if (wanted == short_name(block, key_bytes))
        wanted = lower(cipher_info(another_mode(block.first, Mode::kCbc)).openssl_name(key_bytes));
  for (BlockCipherMode &cipher : all_ciphers())
    if (cipher.name == wanted) return std::move(cipher);
  return std::nullopt;
}

std::vector<std::string> cipher_names() {
  std::vector<std::string> names;
  for (BlockCipherMode &cipher : all_ciphers()) names.push_back(std::move(cipher.name));
  return names;
}

EvpCipher fetch_cpu_cipher(const BlockCipherMode &cipher) {
  EvpCipher found{EVP_CIPHER_fetch(nullptr, cipher.name.c_str(), "provider=default")};
  if (found) return found;
  throw Failure(ExitCode::kFailed,
                fmt::format("{}: OpenSSL's default provider does not offer it here", cipher.name));
}

}  // namespace lanecrypt::cli
