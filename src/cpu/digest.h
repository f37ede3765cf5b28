// Hashes of several concatenated parts, by OpenSSL.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "job/status.h"

namespace lanecrypt::cpu {

enum class Digest {
  kSha256,
  kSha384,
  kSha512,
  kSha224,
  kSha512_224,
  kSha512_256,
  kSha3_224,
  kSha3_256,
  kSha3_384,
  kSha3_512,
  kShake128,
  kShake256
};

// Computes the hash of the concatenated parts. `to` has the hash's length, which for SHAKE may be
// any. Thread-safe.
Status digest(Digest which, std::initializer_list<std::span<const uint8_t>> parts,
              std::span<uint8_t> to);

}  // namespace lanecrypt::cpu
