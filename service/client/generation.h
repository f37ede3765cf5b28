// New keys of RSA by the service.
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
  // Both are called on the caller's thread. The first about four times a second: false ends
  // the generation. The second with the numbers of a key, which are wiped when it returns:
  // false means that they are wrong.
  bool (*goes_on)(void *argument) = nullptr;
  bool (*take)(void *argument, const service::KeyParts &parts) = nullptr;
  void *argument = nullptr;
};

enum class Made {
  kMade,     // all of them
  kNot,      // the service has no room or no device, or is not there
  kFailed,   // it failed, was wrong, or has stopped answering
  kStopped,  // goes_on() said so
};

// Several keys are under way at once. take() has had some of them where the answer is not kMade
// too. It needs a session: where there is none, it is kNot.
Made generate(Connection &connection, const NewKeys &wish);

}  // namespace lanecrypt::client
