// The ciphers of the provider.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>

#include "lanecrypt/lanecrypt.h"
#include "provider/provider.h"

namespace lanecrypt::provider {

struct Algorithm {
  const char *name;  // OpenSSL's first name
  lc_cipher cipher;
  unsigned mode;  // EVP_CIPH_*_MODE
  unsigned key_bytes;
  unsigned iv_bytes;
  unsigned block_bytes;  // as OpenSSL sees it: 1 for a stream
};

// By the number that every context keeps.
extern const Algorithm kAlgorithms[kCipherCount];

// For OSSL_FUNC_provider_query_operation.
extern const OSSL_ALGORITHM kCipherOperations[];
extern const OSSL_ALGORITHM kRsaKeymgmtOperations[];
extern const OSSL_ALGORITHM kRsaSignatureOperations[];
extern const OSSL_ALGORITHM kRsaCipherOperations[];

}  // namespace lanecrypt::provider
