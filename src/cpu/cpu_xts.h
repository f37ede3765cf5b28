// XTS (IEEE 1619) on the CPU by ECB, from any block of a data unit on: for samples of a device's
// output, and for SM4, for which OpenSSL has XTS only from 3.2 on.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cpu/cpu_cipher.h"

namespace lanecrypt::cpu {

// Encrypts or decrypts `length` bytes of data unit `number`, from its block `first` on. `length` is
// at least 16, because ciphertext stealing needs a complete block. If `length` is not a multiple of
// 16, the bytes end the unit. in == out is allowed.
Status run_xts_unit(const CipherKind &kind, const uint8_t *key, const Iv &number, uint64_t first,
                    const uint8_t *in, uint8_t *out, uint64_t length);

}  // namespace lanecrypt::cpu
