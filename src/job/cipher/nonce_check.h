// Finds two messages of a job that would be encrypted with the same nonce under the same key. With
// GCM, CCM and ChaCha20-Poly1305 that reveals the texts and allows forged tags.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher/cipher_job.h"

namespace lanecrypt {

// Returns whether the messages must be compared with each other. They need not if the job decrypts,
// if the nonces follow a rule, or if they ascend, which one pass shows.
bool must_compare_nonces(const CipherJob &job);
// Compares the messages, by sorting. LC_ERROR_ARGUMENT names two messages with the same nonce and
// key. Parts of messages are left out. Throws std::bad_alloc.
Status compare_nonces(const CipherJob &job);

}  // namespace lanecrypt
