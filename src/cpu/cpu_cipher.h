// Ciphers on the CPU, by OpenSSL's default provider. They take over when a device cannot
// do its work, and a device's answers are checked against them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher/cipher_job.h"

struct evp_cipher_st;

namespace lanecrypt::cpu {

struct CipherInput {
  const uint8_t *key;  // kind.key_bytes
  Iv iv;
  uint64_t data_unit_bytes = 0;  // XTS; 0: all of it is one unit
};

// OpenSSL's cipher of a kind, fetched once. Never freed. LC_ERROR_UNSUPPORTED where its
// default provider has none.
Result<const evp_cipher_st *> fetched_cipher(const CipherKind &kind);

// Whether the CPU can do it; authenticated modes, and XTS of SM4, also by other modes of their
// block cipher.
bool has_cipher(const CipherKind &kind);

// Runs `length` bytes from `in` to `out` (which may be `in`). Any thread. It uses a
// library context of its own, so it asks neither the application's configuration nor the
// provider `gpu`.
Status run_cipher(const CipherKind &kind, const CipherInput &input, const uint8_t *in, uint8_t *out,
                  uint64_t length);

}  // namespace lanecrypt::cpu
