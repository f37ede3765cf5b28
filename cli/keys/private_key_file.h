// The file format of private RSA keys that openssl genpkey writes: an RSAPrivateKey (RFC 8017,
// appendix A.1.2) in PKCS#8 (RFC 5208) as PEM (RFC 7468).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/keys/secret_bytes.h"
#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::cli {

// Returns the PEM text of `key`, which must have all its numbers, including d.
SecretBytes private_key_pem(const lc_rsa_parts &key);

// Returns what is wrong with the PEM text, or "" if it is a private RSA key of `bits` bits with the
// public exponent `exponent` (big-endian, without leading zeros) whose numbers are consistent. Does
// not check that the factors are prime.
std::string look_at_private_key(const SecretBytes &pem, unsigned bits, const std::string &exponent);

}  // namespace lanecrypt::cli
