// Encodings of RSA private keys: DER of PKCS#8 (RFC 5958) and PKCS#1 (RFC 8017, A.1.2), and PEM
// (RFC 7468).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lanecrypt/lanecrypt.h"
#include "secure/key_memory.h"

namespace lanecrypt::python {

using Bytes = std::span<const uint8_t>;

// Finds the numbers of a two-prime key in DER of either form. `parts` points into `der`. Returns
// false if it is something else or malformed.
bool read_private_key(Bytes der, lc_rsa_parts *parts);

// Returns the DER of the first private key in PEM text. Empty, with the reason in `why`, if there
// is none.
secure::KeyMemory read_pem(Bytes text, std::string *why);

// Return a key with all its numbers as PKCS#8, and DER as PEM. Empty if there is not enough memory.
secure::KeyMemory write_private_key(const lc_rsa_parts &parts);
secure::KeyMemory write_pem(Bytes der);

}  // namespace lanecrypt::python
