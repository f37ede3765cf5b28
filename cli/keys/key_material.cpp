// SPDX-License-Identifier: Apache-2.0
#include "cli/keys/key_material.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <cstring>
#include <memory>

#include "cli/failure.h"

namespace lanecrypt::cli {
namespace {

struct FreeDigest {
  void operator()(EVP_MD *digest) const { EVP_MD_free(digest); }
};
using Digest = std::unique_ptr<EVP_MD, FreeDigest>;

Digest fetch_digest(const std::string &name) {
  Digest digest(EVP_MD_fetch(nullptr, name.c_str(), nullptr));
  ERR_clear_error();
  if (!digest)
    throw Failure(ExitCode::kUsage, fmt::format("-md {}: OpenSSL knows no such digest", name));
  return digest;
}

}  // namespace

void check_digest(const std::string &name) { fetch_digest(name); }

void derive_key(const BlockCipherMode &cipher, const Derivation &derivation,
                const SecretBytes &passphrase, const std::optional<Salt> &salt,
                std::span<uint8_t> key, std::span<uint8_t> iv) {
  const Digest digest = fetch_digest(derivation.digest);
  const uint8_t *salt_data = salt ? salt->data() : nullptr;
  if (derivation.pbkdf2) {
    // The derived bytes are the key followed by the IV.
    SecretBytes derived(key.size() + iv.size());
    if (PKCS5_PBKDF2_HMAC(passphrase.text(), static_cast<int>(passphrase.size()), salt_data,
                          salt ? static_cast<int>(salt->size()) : 0, derivation.iterations,
                          digest.get(), static_cast<int>(derived.size()), derived.data()) != 1)
      throw Failure(ExitCode::kFailed,
                    fmt::format("PBKDF2 with {} failed in OpenSSL", derivation.digest));
    std::memcpy(key.data(), derived.data(), key.size());
    if (!iv.empty()) std::memcpy(iv.data(), derived.data() + key.size(), iv.size());
    return;
  }
  const EvpCipher evp = fetch_cpu_cipher(cipher);
  SecretBytes full(EVP_MAX_KEY_LENGTH + EVP_MAX_IV_LENGTH);
  uint8_t *full_iv = full.data() + EVP_MAX_KEY_LENGTH;
  if (EVP_BytesToKey(evp.get(), digest.get(), salt_data, passphrase.data(),
                     static_cast<int>(passphrase.size()), 1, full.data(),
                     full_iv) != static_cast<int>(key.size()))
    throw Failure(ExitCode::kFailed,
                  fmt::format("deriving the key with {} failed in OpenSSL", derivation.digest));
  std::memcpy(key.data(), full.data(), key.size());
  if (!iv.empty()) std::memcpy(iv.data(), full_iv, iv.size());
}

Salt random_salt() {
  Salt salt;
  if (RAND_bytes(salt.data(), static_cast<int>(salt.size())) != 1)
    throw Failure(ExitCode::kFailed, "OpenSSL's random generator gave no salt");
  return salt;
}

}  // namespace lanecrypt::cli
