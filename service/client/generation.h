// Makes new RSA keys with the service.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "service/client/connection.h"
#include "service/wire/rsa_packets.h"

namespace lanecrypt::client {

struct NewKeys {
  uint32_t bits = 0;
  std::span<const uint8_t> exponent;  // big-endian
  uint64_t count = 1;
  // Both are called on the caller's thread. `goes_on` is called about four times a second; false
  // ends the generation. `take` is called with the numbers of each key, which are wiped after it
  // returns; false means that they are wrong.
  bool (*goes_on)(void *argument) = nullptr;
  bool (*take)(void *argument, const service::KeyParts &parts) = nullptr;
  void *argument = nullptr;
};

enum class Made {
  kMade,     // all keys
  kNot,      // the service has no room or no device, or there is no session
  kFailed,   // the service failed, gave a wrong key, or stopped answering
  kStopped,  // goes_on() returned false
};

// Makes `wish.count` keys, several at once, and returns when all are made or the generation has
// ended. take() may have got some keys even if the result is not kMade. Returns Made::kNot if there
// is no session.
Made generate(Connection &connection, const NewKeys &wish);

}  // namespace lanecrypt::client
