// What a device must answer before it is trusted with RSA.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "job/rsa_job.h"

namespace lanecrypt::verify {

// output = input^d mod n under a key of 2048 bits that is no secret.
struct RsaKnownAnswer {
  RsaKeyPointer key;
  std::vector<uint8_t> input, output;
};

Result<RsaKnownAnswer> rsa_known_answer();

}  // namespace lanecrypt::verify
