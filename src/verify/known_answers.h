// What a device must answer before it is trusted: the examples of the
// standards, and a long message whose answer the CPU gives.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "job/cipher_job.h"

namespace lanecrypt::verify {

struct KnownAnswer {
  CipherKind kind;
  std::vector<uint8_t> key;
  Iv iv;
  uint64_t data_unit_bytes;  // XTS
  std::vector<uint8_t> input, expected;
  std::vector<uint8_t> nonce, aad, tag;  // of authenticated modes
};

// For every kind: an example (SP 800-38A, appendix F; for authenticated modes
// those of GCM's authors and of RFC 8439, 2.8.2) where there is one, and one message that reaches
// every group of a large device. The latter's expected output is computed by OpenSSL. Secret of
// nobody.
Result<std::vector<KnownAnswer>> known_answers();

}  // namespace lanecrypt::verify
