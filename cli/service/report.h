// The texts that `lanecrypt service` prints about a service's state.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/service/state.h"

namespace lanecrypt::cli {

// Returns an overview: the start time, devices and clients. `now` is in seconds since 1970.
std::string status_text(const ServiceState &state, const std::string &socket, int64_t now);

// Returns a table by kind of operation: counts, batch sizes, and times.
std::string stats_text(const ServiceState &state);

// Returns all numbers as OpenMetrics text that the older Prometheus format accepts too: it ends
// with "# EOF" and uses no type that only OpenMetrics has. `state` is nullptr if no service runs.
std::string metrics_text(const ServiceState *state);

}  // namespace lanecrypt::cli
