// Waits for an operation of the service. A thread blocks. An ASYNC job pauses, and is woken by the
// descriptor of its wait context.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "service/client/operation.h"

namespace lanecrypt::provider {

// operations_in_line_for_service() returns the same as operations_in_line(), but 1 for a job that
// waits by a callback. Such a job blocks its thread, because we have no thread that could call the
// callback.
uint32_t operations_in_line_for_service();

// run_by_service() has the service do the operation of `key`, with `in` and `out` as in
// client::Exchange.
OffloadResult run_by_service(client::Connection &connection, client::Key &key,
                             std::span<const uint8_t> in, std::span<uint8_t> out);

}  // namespace lanecrypt::provider
