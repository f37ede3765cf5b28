// RSA private keys as bytes: DER by PKCS#8 (RFC 5958) and PKCS#1 (RFC 8017, A.1.2), and PEM
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

// Finds the numbers of a key of two primes in DER of either form, where they stay. False where it
// is something else, or not well formed.
bool read_private_key(Bytes der, lc_rsa_parts *parts);

// The DER of a PEM file's first private key. Empty, with the reason in `why`, where there is none.
secure::KeyMemory read_pem(Bytes text, std::string *why);

// PKCS#8 of a key with all its numbers. Empty where there is no memory.
secure::KeyMemory write_private_key(const lc_rsa_parts &parts);
secure::KeyMemory write_pem(Bytes der);

}  // namespace lanecrypt::python
