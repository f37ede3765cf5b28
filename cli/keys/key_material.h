// Derives the key and IV from a passphrase and a salt, as openssl enc does.
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

// How to derive a key from a passphrase.
struct Derivation {
  bool pbkdf2 = false;  // otherwise EVP_BytesToKey with one iteration, OpenSSL's old method
  int iterations = kDefaultIterations;  // of PBKDF2
  std::string digest = "sha256";
};

// Throws Failure (kUsage) if OpenSSL does not have the digest.
void check_digest(const std::string &name);

// Fills `key`, and `iv` unless it is empty, from the passphrase: with PBKDF2 (RFC 8018, section
// 5.2), or with EVP_BytesToKey. `salt` is not set for -nosalt. Throws Failure.
void derive_key(const BlockCipherMode &cipher, const Derivation &derivation,
                const SecretBytes &passphrase, const std::optional<Salt> &salt,
                std::span<uint8_t> key, std::span<uint8_t> iv);

// Returns a random salt from OpenSSL's RAND_bytes(). Throws Failure.
Salt random_salt();

}  // namespace lanecrypt::cli
