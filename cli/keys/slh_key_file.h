// Keys of SLH-DSA as files: PKCS#8 (RFC 5958) and SubjectPublicKeyInfo (RFC 5280), as RFC 9909
// fills them, in PEM. OpenSSL reads them from 3.5 on. The sets of the draft SP 800-230 have no
// object identifiers yet: their keys are PEM of the bytes alone, which no other program reads, and
// whose label names the set.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "cli/keys/secret_bytes.h"
#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::cli {

// A key as lc_slh_dsa_parts takes it.
struct SlhKeyFile {
  lc_slh_dsa_set set = LC_SLH_DSA_SHA2_128S;
  SecretBytes private_key;  // 4 n bytes, or none
  SecretBytes public_key;   // 2 n bytes; beside a private key only where the file has them
};

// Whether a set is one of the draft's.
bool is_draft_slh_set(lc_slh_dsa_set set);

// The text of a file. The private key has 4 n bytes, the public one 2 n.
SecretBytes slh_private_key_pem(lc_slh_dsa_set set, std::span<const uint8_t> private_key);
SecretBytes slh_public_key_pem(lc_slh_dsa_set set, std::span<const uint8_t> public_key);

// Reads the first key of such a text. What is wrong with it, or "". Whether the parts of the key
// belong together is not checked.
std::string parse_slh_key(const SecretBytes &text, SlhKeyFile *key);
// Reads a file. Throws Failure, with its name.
SlhKeyFile read_slh_key(const std::string &path);

}  // namespace lanecrypt::cli
