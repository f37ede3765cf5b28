// What the service says on standard error: a line each.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lanecrypt::service::daemon {

// Any thread. Nothing that a client does may make it say more than a line now and then.
void say(std::string_view text);

}  // namespace lanecrypt::service::daemon
