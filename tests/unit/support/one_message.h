// A message and its job, as the C ABI has them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::test {

inline lc_message plain_message(const void *key, const void *iv, const void *in, void *out,
                                uint64_t length) {
  lc_message message = {};
  message.key = key;
  message.iv = iv;
  message.in = in;
  message.out = out;
  message.length = length;
  return message;
}

// Of this message alone, which must stay, in host memory and for any device.
inline lc_cipher_job job_of(const lc_message &message, lc_cipher cipher,
                            lc_direction direction = LC_ENCRYPT, uint32_t key_bytes = 32) {
  lc_cipher_job job = {};
  job.struct_size = sizeof job;
  job.cipher = cipher;
  job.direction = direction;
  job.key_bytes = key_bytes;
  job.device = LC_ANY_DEVICE;
  job.messages = &message;
  job.message_count = 1;
  job.message_size = sizeof message;
  return job;
}

}  // namespace lanecrypt::test
