// Encrypts or decrypts one input to one output, for `lanecrypt enc` and `lanecrypt dec`.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/crypt/block_cipher_mode.h"
#include "cli/crypt/pipeline.h"
#include "cli/keys/key_material.h"
#include "cli/keys/secret_bytes.h"

namespace lanecrypt::cli {

// The largest chunk: EVP takes lengths as int.
constexpr size_t kMaxChunkBytes = 1 << 30;

struct EncryptRequest {
  BlockCipherMode cipher;
  bool encrypt = true;
  std::string in = "-", out = "-";  // "-": standard input and output

  // The source of the passphrase. If none is set and no key is given, the terminal is asked.
  std::optional<SecretBytes> passphrase;         // -k
  std::optional<SecretBytes> passphrase_source;  // -pass
  std::optional<std::string> passphrase_file;    // -kfile
  // In hexadecimal. At most one of `key` and `key_source` is set.
  std::optional<SecretBytes> key;         // -K
  std::optional<SecretBytes> key_source;  // -key-source: the source of the key
  std::optional<std::string> iv, salt;    // -iv, -S
  bool no_salt = false;
  Derivation derivation;
  bool pad = true;
  bool print_key = false;       // -p
  bool print_key_only = false;  // -P: prints the key and does nothing else

  std::optional<std::string> devices;  // not set: the library's default
  bool require_device = false;
  std::optional<size_t> chunk_bytes;
  bool sync = false;
  bool quiet = false;
  bool verbose = false;
  bool json = false;
};

// Encrypts or decrypts as `request` says. Moves the secrets out of `request`. Throws Failure; in
// that case no partial output is left.
void encrypt_file(EncryptRequest &request);

}  // namespace lanecrypt::cli
