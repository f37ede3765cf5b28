// Hashes of several parts in a row, by OpenSSL.
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

// The hash of all parts, one after the other. `to` has its length, which for SHAKE may be
// any. Any thread.
Status digest(Digest which, std::initializer_list<std::span<const uint8_t>> parts,
              std::span<uint8_t> to);

}  // namespace lanecrypt::cpu
