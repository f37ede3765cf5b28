// CCM (SP 800-38C) on the CPU for messages that OpenSSL cannot process completely: because a device
// has processed the beginning, or because the message exceeds OpenSSL's length limit.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher/cipher_job.h"

namespace lanecrypt::cpu {

// Processes `length` bytes of messages[message], from `offset` of its stream
// (job/cipher/ccm_format.h) on. `mac`: in, the MAC of what precedes, or zeros; out, the MAC up to
// here, or the tag at the end of the message. Thread-safe.
Status run_ccm_piece(const CipherJob &job, uint32_t message, const Iv &counter, uint64_t offset,
                     uint64_t length, Iv *mac);

}  // namespace lanecrypt::cpu
