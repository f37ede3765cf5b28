// SPDX-License-Identifier: Apache-2.0
#include "cli/crypt/aes_cipher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/failure.h"

namespace lanecrypt::cli {
namespace {

struct Mode {
  const char *name;
  lc_cipher mode;
};
constexpr Mode kModes[] = {{"ecb", LC_AES_ECB}, {"cbc", LC_AES_CBC}, {"ctr", LC_AES_CTR}};
constexpr uint32_t kKeyBytes[] = {16, 24, 32};

}  // namespace

std::optional<AesCipher> find_cipher(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (uint32_t key_bytes : kKeyBytes) {
    const auto bits = key_bytes * 8;
    if (lower == fmt::format("aes{}", bits)) lower = fmt::format("aes-{}-cbc", bits);
    for (const Mode &mode : kModes) {
      const std::string full = fmt::format("aes-{}-{}", bits, mode.name);
      if (lower == full) return AesCipher{full, mode.mode, key_bytes};
    }
  }
  return std::nullopt;
}

std::vector<std::string> cipher_names() {
  std::vector<std::string> names;
  for (uint32_t key_bytes : kKeyBytes)
    for (const Mode &mode : kModes)
      names.push_back(fmt::format("aes-{}-{}", key_bytes * 8, mode.name));
  return names;
}

EvpCipher fetch_cpu_cipher(const AesCipher &cipher) {
  EvpCipher found{EVP_CIPHER_fetch(nullptr, cipher.name.c_str(), "provider=default")};
  if (found) return found;
  throw Failure(ExitCode::kFailed,
                fmt::format("{}: OpenSSL's default provider does not offer it here", cipher.name));
}

}  // namespace lanecrypt::cli
