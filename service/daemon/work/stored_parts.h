// A copy of the numbers of a private key, in memory that is locked and wiped.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "secure/key_memory.h"
#include "service/wire/rsa_packets.h"

namespace lanecrypt::service::daemon {

class StoredParts {
 public:
  // Throws std::bad_alloc if there is no locked memory.
  explicit StoredParts(const KeyParts &parts);

  KeyParts parts() const;
  // Returns whether all parts are equal, in constant time, except that lengths are not secret.
  bool are(const KeyParts &others) const;

 private:
  std::array<uint16_t, kKeyParts> bytes_ = {};
  secure::KeyMemory memory_;  // the parts, one after the other
};

}  // namespace lanecrypt::service::daemon
