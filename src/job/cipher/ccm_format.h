// What CCM authenticates before a message's text, and its counter blocks (SP 800-38C, Appendix A.2
// and A.3). A CCM message is treated as one stream: its header, padded to whole blocks, and then
// its text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher/cipher_job.h"

namespace lanecrypt {

// Returns the bytes of a message's header: the first block, the encoded length of the additional
// data, the data, and zero padding.
uint64_t ccm_header_bytes(uint64_t aad_length);

// Copies `bytes` bytes of the header of messages[message], from `offset` on.
void copy_ccm_header(const CipherJob &job, uint32_t message, uint64_t offset, uint64_t bytes,
                     uint8_t *to);

// Returns counter block 0, which encrypts the tag. The blocks of the text have the following
// counters. The counter field starts at zero and never overflows.
Iv ccm_counter(const uint8_t *iv, uint32_t iv_bytes);

}  // namespace lanecrypt
