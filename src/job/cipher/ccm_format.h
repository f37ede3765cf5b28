// What CCM authenticates before a message's text, and its counter blocks
// (SP 800-38C, A.2 and A.3). A message of CCM is one stream: its header, whole
// blocks, and then its text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher/cipher_job.h"

namespace lanecrypt {

// Bytes of a message's header: the first block, the number of bytes of the
// additional data, these, and zeros.
uint64_t ccm_header_bytes(uint64_t aad_length);

// `bytes` of the header of messages[message], from `offset` on.
void copy_ccm_header(const CipherJob &job, uint32_t message, uint64_t offset, uint64_t bytes,
                     uint8_t *to);

// The counter block 0, which encrypts the tag. The text's blocks have those that
// follow; its bytes for the count start as zeros and never run over.
Iv ccm_counter(const uint8_t *iv, uint32_t iv_bytes);

}  // namespace lanecrypt
