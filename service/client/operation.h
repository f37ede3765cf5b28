// Runs operations with private keys in the service and waits for them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "service/client/connection.h"
#include "service/client/exchange.h"
#include "service/client/offload_result.h"

namespace lanecrypt::client {

// Maps the state of a finished exchange to its result, and tells the connection of an answer or a
// loss. Raises no error.
OffloadResult conclude(Connection &connection, const Exchange &exchange, Exchange::State state);

// Runs one operation with `key` and blocks until it is done. `in` and `out` are as in Exchange.
// Returns kNotTaken if there is no session, or no room for the key or for a channel.
OffloadResult run_private(Connection &connection, Key &key, std::span<const uint8_t> in,
                          std::span<uint8_t> out);

}  // namespace lanecrypt::client
