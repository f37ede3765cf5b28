// How a job goes on where a graph does it again at each launch (lc_graph_update).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher/cipher_job.h"

namespace lanecrypt {

struct GraphUpdate {
  bool opens;               // decryption
  uint64_t count;           // encryption: launches that encrypt
  uint64_t nonce, verdict;  // addresses on the device; 0: none
};

// Refuses what a graph cannot do again, and what would use a nonce twice. The job's segments stayed
// segments where they can.
Result<GraphUpdate> read_graph_update(const lc_graph_update *given, const CipherJob &job,
                                      lc_direction direction);

}  // namespace lanecrypt
