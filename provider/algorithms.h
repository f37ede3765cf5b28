// The ciphers of the provider.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>

#include "job/mode.h"
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

  const Mode &traits() const { return mode_of(cipher); }
  // An update is a data unit of its own, and leaves the IV as it is.
  bool has_data_units() const { return traits().continuation == Continuation::kDataUnits; }
  // A stream may stop within a block, and the parameter num says where.
  bool counts_within_block() const {
    return block_bytes == 1 && !has_data_units() &&
           (traits().feedback_bits <= 0 || traits().feedback_bits == 128);
  }
};

// By the number that every context keeps.
extern const Algorithm kAlgorithms[kCipherCount];

// For OSSL_FUNC_provider_query_operation.
extern const OSSL_ALGORITHM kCipherOperations[];
extern const OSSL_ALGORITHM kRsaKeymgmtOperations[];
extern const OSSL_ALGORITHM kRsaSignatureOperations[];
extern const OSSL_ALGORITHM kRsaCipherOperations[];

}  // namespace lanecrypt::provider
