// Runs operations with private keys in the service and waits for them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "service/client/connection.h"
#include "service/client/exchange.h"

namespace lanecrypt::client {

// The result of an operation that was meant for the service.
enum class Taken {
  kDone,
  kNot,     // the service has no room or no device, or there is no session: no error
  kFailed,  // the service failed or stopped answering
  kNever,   // nothing may make the signature: it would reveal a key of SLH-DSA
};

// Maps the state of a finished exchange to its result, and tells the connection of an answer or a
// loss.
Taken conclude(Connection &connection, const Exchange &exchange, Exchange::State state);

// Runs one operation with `key` and blocks until it is done. `in` and `out` are as in Exchange.
// Returns kNot if there is no session.
Taken run_private(Connection &connection, Key &key, std::span<const uint8_t> in,
                  std::span<uint8_t> out);

}  // namespace lanecrypt::client
