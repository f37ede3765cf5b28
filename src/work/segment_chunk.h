// Segments of one text that no host makes messages of: what a launch must know of them, as a rule.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher/graph_update.h"
#include "work/device_memory.h"

namespace lanecrypt::runtime {

// Takes the next segments off request.todo, as many as one launch takes.
Status cut_segments(Request &request, const DeviceMemory &memory, DeviceChunk *chunk);

// What a launch must know to go on with their nonces where a graph does it again.
Result<GraphUpdateWork> find_graph_update(const CipherJob &job, const GraphUpdate &update,
                                          const DeviceMemory &memory);

}  // namespace lanecrypt::runtime
