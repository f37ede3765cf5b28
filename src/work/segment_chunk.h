// Segments of one text that no host makes messages of: what a launch must know of them, as a rule.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "work/device_memory.h"

namespace lanecrypt::runtime {

// Takes the next segments off request.todo, as many as one launch takes.
Status cut_segments(Request &request, const DeviceMemory &memory, DeviceChunk *chunk);

}  // namespace lanecrypt::runtime
