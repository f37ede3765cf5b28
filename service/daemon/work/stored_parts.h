// The numbers of a private key, copied into memory that is locked and wiped.
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
  // Throws std::bad_alloc where there is no memory that a key may be in.
  explicit StoredParts(const KeyParts &parts);

  KeyParts parts() const;
  // Whether all are the same. It takes as long wherever they differ; but lengths are no secret.
  bool are(const KeyParts &others) const;

 private:
  std::array<uint16_t, kKeyParts> bytes_ = {};
  secure::KeyMemory memory_;  // one after the other
};

}  // namespace lanecrypt::service::daemon
