// CCM on the CPU where OpenSSL cannot do a message whole: after a device has
// done its beginning, or since it is longer than OpenSSL counts.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher_job.h"

namespace lanecrypt::cpu {

// `length` bytes of messages[message], from `offset` of its stream (job/
// ccm_format.h) on. mac: of what came before, zeros where nothing did; then of
// this too, or, where this is the end, the tag. Any thread.
Status run_ccm_piece(const CipherJob &job, uint32_t message, const Iv &counter, uint64_t offset,
                     uint64_t length, Iv *mac);

}  // namespace lanecrypt::cpu
