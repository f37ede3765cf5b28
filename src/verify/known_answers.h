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
};

// For every kind: SP 800-38A, appendix F, and one message that reaches every
// group of a large device. The latter's expected output is computed by
// OpenSSL. Secret of nobody.
Result<std::vector<KnownAnswer>> known_answers();

}  // namespace lanecrypt::verify
