// What a device must answer before it is trusted with hashes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "job/hash_job.h"

namespace lanecrypt::verify {

// The digest of `length` bytes 0, 1, 2 ... 250, 0, 1 and so on, with what the hash has beside:
// the key of bytes 0 to 31, kHashText, leaves of kHashLeaf bytes. `copies`: how many messages
// alike are hashed at once, whose last digest is looked at.
struct HashKnownAnswer {
  lc_hash hash;
  uint32_t length, copies;
  std::string_view hex;

  std::string subject() const;
  std::vector<uint8_t> message() const;
  std::vector<uint8_t> digest() const;
  // Names the messages, which stay the caller's.
  Result<HashJob> job(std::span<const lc_hash_message> messages) const;
};

inline constexpr std::string_view kHashText = "Lanecrypt tests hashes.";
inline constexpr uint64_t kHashLeaf = 300;

std::span<const HashKnownAnswer> hash_known_answers();

}  // namespace lanecrypt::verify
