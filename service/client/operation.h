// Operations with private keys by the service, for a thread that waits.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "service/client/connection.h"
#include "service/client/exchange.h"

namespace lanecrypt::client {

// What became of an operation that the service was to do.
enum class Taken {
  kDone,
  kNot,     // it has no room or no device, or is not there: no fault of anybody's
  kFailed,  // it failed, or has stopped answering
  kNever,   // nobody may do it, or a key of SLH-DSA is given away
};

// What an exchange that is over means.
Taken conclude(Connection &connection, const Exchange &exchange, Exchange::State state);

// Does what the key is for, with `in` and `out` as Exchange has them. The thread waits. It needs a
// session: where there is none, it is kNot.
Taken run_private(Connection &connection, Key &key, std::span<const uint8_t> in,
                  std::span<uint8_t> out);

}  // namespace lanecrypt::client
