// What a device must answer before it is trusted with RSA.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "job/rsa_job.h"

namespace lanecrypt::verify {

// An operation with a 2048-bit key that is not secret; all answers share the key.
struct RsaKnownAnswer {
  RsaKeyPointer key;
  lc_rsa_operation operation;
  std::vector<uint8_t> input, expected;

  std::string subject() const { return "output of RSA-2048"; }
};

// Returns a private operation, and the public operation that inverts it.
Result<std::vector<RsaKnownAnswer>> rsa_known_answers();

}  // namespace lanecrypt::verify
