// Writes the counters as JSON.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "service/daemon/client/user.h"

namespace lanecrypt::service::daemon {

struct Service;

// Returns the report. `users`: nullptr for a client that must not learn of other users.
std::string make_report(Service &service, const std::vector<std::shared_ptr<const User>> *users);

}  // namespace lanecrypt::service::daemon
