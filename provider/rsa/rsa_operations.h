// The RSA algorithms, for OSSL_FUNC_provider_query_operation.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>

namespace lanecrypt::provider {

extern const OSSL_ALGORITHM kRsaKeymgmtOperations[];
extern const OSSL_ALGORITHM kRsaSignatureOperations[];
extern const OSSL_ALGORITHM kRsaCipherOperations[];
extern const OSSL_ALGORITHM kRsaEncoderOperations[];

}  // namespace lanecrypt::provider
