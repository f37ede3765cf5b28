// The file formats of SLH-DSA keys: PKCS#8 (RFC 5958) and SubjectPublicKeyInfo (RFC 5280), used as
// in RFC 9909, in PEM. OpenSSL reads them from version 3.5 on. The parameter sets of the draft SP
// 800-230 have no object identifiers yet. Their PEM contains only the bytes of the key, and its
// label names the set. No other program reads it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "cli/keys/secret_bytes.h"
#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::cli {

// A key in the form of lc_slh_dsa_parts.
struct SlhKeyFile {
  lc_slh_dsa_set set = LC_SLH_DSA_SHA2_128S;
  SecretBytes private_key;  // 4 n bytes, or empty
  SecretBytes public_key;   // 2 n bytes; with a private key only if the file has it
};

// Returns whether the set is from the draft SP 800-230.
bool is_draft_slh_set(lc_slh_dsa_set set);

// Return the PEM text of a key. The private key has 4 n bytes, the public key 2 n.
SecretBytes slh_private_key_pem(lc_slh_dsa_set set, std::span<const uint8_t> private_key);
SecretBytes slh_public_key_pem(lc_slh_dsa_set set, std::span<const uint8_t> public_key);

// Reads the first key in `text`. Returns what is wrong with it, or "". Does not check that the
// parts of the key belong together.
std::string parse_slh_key(const SecretBytes &text, SlhKeyFile *key);
// Reads a key file. Throws Failure with the file's name.
SlhKeyFile read_slh_key(const std::string &path);

}  // namespace lanecrypt::cli
