// SLH-DSA key generation, on a device or by the default provider. On a core it takes an eighth to a
// twentieth of the time of a signature, and on a device a fraction of a millisecond.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <span>

#include "provider/pq/pq_key.h"

namespace lanecrypt::provider {

// generate_slh_dsa_key() generates a key of the default provider from `seed`, which has 3 n bytes,
// or from random bytes if it is empty. `fallback` is a key generation context with the same seed,
// which generates the key if no device does. The caller frees the result. It returns nullptr with
// an error raised on failure. It may pause an ASYNC job.
EVP_PKEY *generate_slh_dsa_key(Provider &provider, const PqType &type,
                               std::span<const uint8_t> seed, EVP_PKEY_CTX *fallback);

}  // namespace lanecrypt::provider
