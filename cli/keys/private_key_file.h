// A private RSA key as the file that openssl genpkey writes: PKCS#8 (RFC 5208)
// with RFC 8017's RSAPrivateKey within, as PEM (RFC 7468).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/keys/secret_bytes.h"
#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::cli {

// `key` has all its numbers, d among them.
SecretBytes private_key_pem(const lc_rsa_parts &key);

// What is wrong with the text of such a file, or "". It must be a private RSA key of that
// length and exponent (big-endian, no leading zeros) whose numbers belong together.
// Whether its primes are prime is not checked.
std::string look_at_private_key(const SecretBytes &pem, unsigned bits, const std::string &exponent);

}  // namespace lanecrypt::cli
