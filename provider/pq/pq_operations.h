// What the provider offers of ML-DSA, from OpenSSL 3.5 on.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include "provider/provider.h"

namespace lanecrypt::provider {

extern const OSSL_ALGORITHM kPqKeymgmtOperations[];
extern const OSSL_ALGORITHM kMlDsaSignatureOperations[];

// Whether this libcrypto has ML-DSA.
bool libcrypto_has_ml_dsa();
// What the default provider says of the TLS signatures that are offered here. TLS takes it only
// from the provider whose keys it uses.
int tell_tls_sigalgs(Provider &provider, OSSL_CALLBACK *callback, void *argument);

}  // namespace lanecrypt::provider
