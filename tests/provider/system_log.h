// What the provider tells the system's log: in this program, its syslog() is ours.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace provider_test {

// The lines since the last call.
std::vector<std::string> take_system_log();

}  // namespace provider_test
