// A block cipher on the CPU, by OpenSSL's default provider: what takes over
// when a device cannot do its work, and what its answers are checked against.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher_job.h"

namespace lanecrypt::cpu {

// Runs `length` bytes from `in` to `out` (which may be `in`) under `key`, of
// kind.key_bytes, from `iv` on. Any thread. Uses a library context of its own,
// so that neither the application's configuration nor the provider `gpu` is
// asked.
Status run_cipher(const CipherKind &kind, const uint8_t *key, const Iv &iv, const uint8_t *in,
                  uint8_t *out, uint64_t length);

}  // namespace lanecrypt::cpu
