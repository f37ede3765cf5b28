// CCM on the CPU where OpenSSL cannot do a message whole: because a device has done its
// beginning, or because it is longer than OpenSSL counts.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher/cipher_job.h"

namespace lanecrypt::cpu {

// Runs `length` bytes of messages[message], from `offset` of its stream
// (job/cipher/ccm_format.h) on. mac: in, that of what came before, or zeros; out, that up to
// here, or at the message's end the tag. Any thread.
Status run_ccm_piece(const CipherJob &job, uint32_t message, const Iv &counter, uint64_t offset,
                     uint64_t length, Iv *mac);

}  // namespace lanecrypt::cpu
