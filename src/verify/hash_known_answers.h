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

// The digest of a message of `length` bytes 0, 1, 2 ... 250, 0, 1 and so on, with the hash's other
// inputs, if it has any: the key of bytes 0 to 31, kHashText, leaves of kHashLeaf bytes. `copies`
// is the number of equal messages that are hashed at once; the last digest is checked.
struct HashKnownAnswer {
  lc_hash hash;
  uint32_t length, copies;
  std::string_view hex;

  std::string subject() const;
  std::vector<uint8_t> message() const;
  std::vector<uint8_t> digest() const;
  // Makes the job that hashes `messages`, which the caller keeps.
  Result<HashJob> job(std::span<const lc_hash_message> messages) const;
};

inline constexpr std::string_view kHashText = "Lanecrypt tests hashes.";
inline constexpr uint64_t kHashLeaf = 300;

std::span<const HashKnownAnswer> hash_known_answers();

}  // namespace lanecrypt::verify
