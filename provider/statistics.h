// The counters as text, and the line that is appended to stats_file when a provider is unloaded or
// the process ends.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "provider/provider.h"

namespace lanecrypt::provider {

// devices_json() returns what each device has done, as a JSON array; "[]" while no device was used.
std::string devices_json(Provider &provider);

// enlist() adds a provider to the list of loaded ones, so that its line is written even if the
// process ends without unloading it.
void enlist(Provider &provider);
// strike_off() writes the provider's line, unless that was done when the process began to end, and
// removes the provider from the list. It returns false if the process is ending. The caller must
// then leave the provider's devices alone, because their library and their driver may be gone.
bool strike_off(Provider &provider);

}  // namespace lanecrypt::provider
