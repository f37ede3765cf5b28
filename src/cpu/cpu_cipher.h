// Ciphers on the CPU, by OpenSSL's default provider. They are the fallback if a device cannot do
// its work, and the reference against which a device's results are checked.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher/cipher_job.h"

struct evp_cipher_st;

namespace lanecrypt::cpu {

struct CipherInput {
  const uint8_t *key;  // kind.key_bytes
  Iv iv;
  uint64_t data_unit_bytes = 0;  // for XTS; 0 if all of it is one unit
};

// Returns OpenSSL's cipher of a kind, fetched once and never freed. Returns LC_ERROR_UNSUPPORTED if
// OpenSSL's default provider does not have it.
Result<const evp_cipher_st *> fetched_cipher(const CipherKind &kind);

// Returns whether the CPU can do it. Authenticated modes, and XTS of SM4, may use other modes of
// their block cipher.
bool has_cipher(const CipherKind &kind);

// Encrypts or decrypts `length` bytes from `in` to `out`, which may be equal. Thread-safe. It uses
// its own library context, so neither the application's configuration nor the provider `gpu`
// affects it.
Status run_cipher(const CipherKind &kind, const CipherInput &input, const uint8_t *in, uint8_t *out,
                  uint64_t length);

}  // namespace lanecrypt::cpu
