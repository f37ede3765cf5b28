// Reads the files of tests/vectors. tests/vectors/README.md describes their format.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lanecrypt/lanecrypt.h"
#include "reference.h"

namespace lanecrypt::test {

struct Cipher {
  lc_cipher mode;
  uint32_t key_bytes;
};

struct VectorCase {
  std::string name;  // "aes-128-cbc VarTxt.0"
  Cipher cipher;
  Bytes key, iv, plaintext, ciphertext;
};

// A message of an authenticated mode.
struct VectorSeal {
  std::string name;
  Cipher cipher;
  Bytes key, iv, aad, plaintext, ciphertext, tag;
};

// A known answer of Poly1305 alone.
struct VectorMac {
  std::string name;
  Bytes key, message, tag;
};

// A Monte Carlo chain of AESAVS.
struct VectorChain {
  std::string name;  // "aes-128-cbc encrypt"
  Cipher cipher;
  lc_direction direction;
  Bytes key, iv, text;
  std::vector<Bytes> answers;
};

struct VectorFile {
  std::vector<VectorCase> cases;
  std::vector<VectorChain> chains;
  std::vector<VectorSeal> seals;
  std::vector<VectorMac> macs;
};

// Throws std::runtime_error, with file and line, if a file is missing or malformed.
VectorFile read_vectors(const std::string &file_name);

}  // namespace lanecrypt::test
