// New keys of SLH-DSA, on a device or by the default provider. To make one takes a core an eighth
// to a twentieth of what a signature takes, and a device a fraction of a millisecond.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <span>

#include "provider/pq/pq_key.h"

namespace lanecrypt::provider {

// A key of the default provider's, of this seed of 3 n bytes, or of random numbers if it is
// empty. `fallback` makes it where no device does, and has the seed too. nullptr with an error
// raised.
EVP_PKEY *generate_slh_dsa_key(Provider &provider, const PqType &type,
                               std::span<const uint8_t> seed, EVP_PKEY_CTX *fallback);

}  // namespace lanecrypt::provider
