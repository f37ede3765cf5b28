// How a job goes on where a graph does it again at each launch (lc_replays).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher/cipher_job.h"

namespace lanecrypt {

struct Replays {
  bool opens;               // decryption
  uint64_t count;           // encryption: launches that encrypt
  uint64_t nonce, verdict;  // addresses on the device; 0: none
};

// Refuses what a graph cannot do again, and what would use a nonce twice. The job's segments stayed
// segments where they can.
Result<Replays> read_replays(const lc_replays *given, const CipherJob &job, lc_direction direction);

}  // namespace lanecrypt
