// Waits for an operation that the service does. A thread blocks. An ASYNC job pauses, and is
// woken by the descriptor of its wait context.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "service/client/operation.h"

namespace lanecrypt::provider {

// As operations_in_line(). A job that waits by a callback counts as alone: no thread of ours
// is there to call it, so it would block the thread.
uint32_t operations_in_line_for_service();

// Has the service do what the key is for, with `in` and `out` as client::Exchange has them.
OffloadResult run_by_service(client::Connection &connection, client::Key &key,
                             std::span<const uint8_t> in, std::span<uint8_t> out);

}  // namespace lanecrypt::provider
