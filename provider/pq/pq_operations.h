// The algorithms of ML-DSA and SLH-DSA that the provider offers, from OpenSSL 3.5 on.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include "provider/provider.h"

namespace lanecrypt::provider {

extern const OSSL_ALGORITHM kMlDsaKeymgmtOperations[];
extern const OSSL_ALGORITHM kSlhDsaKeymgmtOperations[];
extern const OSSL_ALGORITHM kMlDsaEncoderOperations[];
extern const OSSL_ALGORITHM kSlhDsaEncoderOperations[];
extern const OSSL_ALGORITHM kMlDsaDecoderOperations[];
extern const OSSL_ALGORITHM kMlDsaSignatureOperations[];
extern const OSSL_ALGORITHM kSlhDsaSignatureOperations[];

// libcrypto_has_pq() says whether the running libcrypto has ML-DSA and SLH-DSA.
bool libcrypto_has_pq();
// tell_tls_sigalgs() passes the default provider's TLS-SIGALG capabilities of ML-DSA to `callback`.
// The default provider has none for SLH-DSA. libssl accepts a capability only from the provider
// whose keymgmt it fetches.
int tell_tls_sigalgs(Provider &provider, OSSL_CALLBACK *callback, void *argument);

}  // namespace lanecrypt::provider
