// How a job changes from one launch of a CUDA graph to the next (lc_graph_update).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher/cipher_job.h"

namespace lanecrypt {

struct GraphUpdate {
  bool opens;               // decryption
  uint64_t count;           // encryption: launches that encrypt
  uint64_t nonce, verdict;  // addresses in device memory; 0: none
};

// Rejects what a graph cannot repeat, and what would use a nonce twice. The job's segments must
// have been kept as segments if possible.
Result<GraphUpdate> read_graph_update(const lc_graph_update *given, const CipherJob &job,
                                      lc_direction direction);

}  // namespace lanecrypt
