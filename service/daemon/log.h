// Log lines of the service on standard error.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lanecrypt::service::daemon {

// Writes one line. Thread-safe. Callers limit the rate of lines that a client can cause.
void say(std::string_view text);

}  // namespace lanecrypt::service::daemon
