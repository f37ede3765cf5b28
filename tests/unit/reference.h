// The right answers: OpenSSL's default provider, whatever the machine's
// openssl.cnf says.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::test {

using Bytes = std::vector<uint8_t>;

// Without padding. Throws std::runtime_error where OpenSSL refuses.
void reference_crypt(lc_cipher cipher, lc_direction direction, uint32_t key_bytes,
                     const uint8_t *key, const uint8_t *iv, const uint8_t *in, uint8_t *out,
                     uint64_t length);

}  // namespace lanecrypt::test
