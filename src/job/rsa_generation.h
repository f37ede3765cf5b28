// The library's own, checked form of lc_rsa_generation.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "job/status.h"

namespace lanecrypt {

struct RsaGeneration {
  uint32_t bits = 0;              // of the modulus
  std::vector<uint8_t> exponent;  // e, without leading zeros
  uint64_t count = 0;
  uint32_t device = LC_ANY_DEVICE;  // or LC_CPU
  int (*on_key)(void *argument, uint64_t number, const lc_rsa_parts *key) = nullptr;
  int (*on_progress)(void *argument, const lc_rsa_progress *progress) = nullptr;
  int (*random)(void *argument, void *to, size_t bytes) = nullptr;
  void *argument = nullptr;
};

Result<RsaGeneration> make_rsa_generation(const lc_rsa_generation *generation);

}  // namespace lanecrypt
