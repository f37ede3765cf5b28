// Key and IV as openssl enc makes them: from hexadecimal text, or derived from
// a passphrase and a salt.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "cli/crypt/block_cipher_mode.h"
#include "cli/keys/secret_bytes.h"

namespace lanecrypt::cli {

constexpr size_t kSaltBytes = 8;
using Salt = std::array<uint8_t, kSaltBytes>;

constexpr int kDefaultIterations = 10000;

// How a passphrase becomes a key.
struct Derivation {
  bool pbkdf2 = false;  // otherwise EVP_BytesToKey with one round: OpenSSL's old way
  int iterations = kDefaultIterations;  // of PBKDF2
  std::string digest = "sha256";
};

// Throws Failure (kUsage) where the digest is unknown.
void check_digest(const std::string &name);

// Fills the key, and the IV where the cipher has one. No salt: -nosalt.
void derive_key(const BlockCipherMode &cipher, const Derivation &derivation,
                const SecretBytes &passphrase, const std::optional<Salt> &salt,
                std::span<uint8_t> key, std::span<uint8_t> iv);

// From the system's generator.
Salt random_salt();

}  // namespace lanecrypt::cli
