// The work of `lanecrypt enc` and `lanecrypt dec`: one input, one output.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/crypt/aes_cipher.h"
#include "cli/crypt/pipeline.h"
#include "cli/keys/key_material.h"
#include "cli/keys/secret_bytes.h"

namespace lanecrypt::cli {

// EVP counts in int, and a chunk must fit.
constexpr size_t kMaxChunkBytes = 1 << 30;

struct EncryptRequest {
  AesCipher cipher;
  bool encrypt = true;
  std::string in = "-", out = "-";  // "-": standard input and output

  // Where the passphrase comes from, if from anywhere.
  std::optional<SecretBytes> passphrase;         // -k
  std::optional<SecretBytes> passphrase_source;  // -pass
  std::optional<std::string> passphrase_file;    // -kfile
  // In hexadecimal; of the first two, one at most.
  std::optional<SecretBytes> key;         // -K
  std::optional<SecretBytes> key_source;  // -key-source: where the key comes from
  std::optional<std::string> iv, salt;    // -iv, -S
  bool no_salt = false;
  Derivation derivation;
  bool pad = true;
  bool print_key = false;       // -p
  bool print_key_only = false;  // -P: and then end

  std::optional<std::string> devices;  // otherwise the library's default
  bool require_device = false;
  std::optional<size_t> chunk_bytes;
  bool sync = false;
  bool quiet = false;
  bool verbose = false;
  bool json = false;
};

// Throws Failure. Nothing is left of an output that is not whole.
void encrypt_file(EncryptRequest &request);

}  // namespace lanecrypt::cli
