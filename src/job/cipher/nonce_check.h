// Finds two messages of a job that would be encrypted with the same nonce under the same key. For
// GCM, CCM and ChaCha20-Poly1305 that gives away the texts, and lets others forge tags.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher/cipher_job.h"

namespace lanecrypt {

// Whether the messages must be compared with each other. They need not where the job decrypts,
// where the nonces follow a rule, and where they ascend, which one pass shows.
bool must_compare_nonces(const CipherJob &job);
// Compares them, by a sort. LC_ERROR_ARGUMENT names two messages that have the same. Parts of
// messages are left out. Throws std::bad_alloc.
Status compare_nonces(const CipherJob &job);

}  // namespace lanecrypt
