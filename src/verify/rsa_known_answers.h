// What a device must answer before it is trusted with RSA.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "job/rsa_job.h"

namespace lanecrypt::verify {

// Of a key of 2048 bits that is no secret, which all of them have.
struct RsaKnownAnswer {
  RsaKeyPointer key;
  lc_rsa_operation operation;
  std::vector<uint8_t> input, expected;

  std::string subject() const { return "output of RSA-2048"; }
};

// A private operation, and the public one that undoes it.
Result<std::vector<RsaKnownAnswer>> rsa_known_answers();

}  // namespace lanecrypt::verify
