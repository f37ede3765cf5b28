// XTS on the CPU by ECB, from any block of a data unit on: for samples of a device's output,
// and for SM4, which OpenSSL has in XTS only from 3.2 on.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cpu/cpu_cipher.h"

namespace lanecrypt::cpu {

// Runs `length` bytes of a data unit (16 or more, or a last part of a block would have nothing
// to steal from) that begin with its block number `first`; `number` is the unit's. They end the
// unit where they end within a block. in == out is allowed.
Status run_xts_unit(const CipherKind &kind, const uint8_t *key, const Iv &number, uint64_t first,
                    const uint8_t *in, uint8_t *out, uint64_t length);

}  // namespace lanecrypt::cpu
