// Collects what the provider writes to the system log: this test program defines syslog().
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace provider_test {

// take_system_log() returns the lines since the last call.
std::vector<std::string> take_system_log();

}  // namespace provider_test
