// The counters as text, and the line that is appended to stats_file when a provider is
// unloaded or the process ends.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "provider/provider.h"

namespace lanecrypt::provider {

// What each device has done, as a JSON array; "[]" while no device was asked.
std::string devices_json(Provider &provider);

// Makes a provider known, so that its line is written even if the process ends without
// unloading it.
void enlist(Provider &provider);
// Writes its line, unless the end of the process has done so, and forgets the provider.
// False if the process is ending and the provider's devices are better left alone: their
// library and their driver may be gone.
bool strike_off(Provider &provider);

}  // namespace lanecrypt::provider
