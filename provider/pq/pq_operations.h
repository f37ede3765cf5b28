// What the provider offers of ML-DSA and SLH-DSA, from OpenSSL 3.5 on.
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

// Whether this libcrypto has them.
bool libcrypto_has_pq();
// What the default provider says of the TLS signatures of ML-DSA. It says nothing of SLH-DSA. TLS
// takes it only from the provider whose keys it uses.
int tell_tls_sigalgs(Provider &provider, OSSL_CALLBACK *callback, void *argument);

}  // namespace lanecrypt::provider
