// Builds messages and jobs of the C ABI.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

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

// Returns a job of `messages`, in host memory and for any device. The messages must outlive the
// job.
inline lc_cipher_job job_of(std::span<const lc_message> messages, lc_cipher cipher,
                            lc_direction direction = LC_ENCRYPT, uint32_t key_bytes = 32) {
  lc_cipher_job job = {};
  job.struct_size = sizeof job;
  job.cipher = cipher;
  job.direction = direction;
  job.key_bytes = key_bytes;
  job.device = LC_ANY_DEVICE;
  job.messages = messages.data();
  job.message_count = messages.size();
  job.message_size = sizeof messages[0];
  return job;
}
inline lc_cipher_job job_of(const lc_message &message, lc_cipher cipher,
                            lc_direction direction = LC_ENCRYPT, uint32_t key_bytes = 32) {
  return job_of(std::span(&message, 1), cipher, direction, key_bytes);
}

}  // namespace lanecrypt::test
