// What `lanecrypt service` prints of a service's state.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/service/state.h"

namespace lanecrypt::cli {

// One screen: since when, devices, clients. `now`: seconds since 1970.
std::string status_text(const ServiceState &state, const std::string &socket, int64_t now);

// A table of the kinds of operations: how many, in which batches, and how long they took.
std::string stats_text(const ServiceState &state);

// All numbers as OpenMetrics text, which Prometheus' own older format takes too: it ends with
// "# EOF", and types that only OpenMetrics has do not occur. nullptr: no service is there.
std::string metrics_text(const ServiceState *state);

}  // namespace lanecrypt::cli
