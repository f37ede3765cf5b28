// SPDX-License-Identifier: Apache-2.0
#include "job/cipher/ccm_format.h"

#include <algorithm>
#include <cstring>

namespace lanecrypt {
namespace {

// Returns the bytes that encode the length of the additional data (SP 800-38C, Appendix A.2.2).
uint64_t length_bytes(uint64_t aad_length) {
  if (aad_length == 0) return 0;
  if (aad_length < (1 << 16) - (1 << 8)) return 2;
  return aad_length <= UINT32_MAX ? 6 : 10;
}

void store_big(uint8_t *to, uint64_t value, uint64_t bytes) {
  for (uint64_t n = 0; n < bytes; ++n) to[n] = static_cast<uint8_t>(value >> (8 * (bytes - 1 - n)));
}

// `Front` is what precedes the additional data.
struct Front {
  uint8_t bytes[kBlockBytes + 10];
  uint64_t length;
};

Front make_front(const CipherJob &job, uint32_t number) {
  const uint64_t aad_length = job.aead[number].aad_length;
  const uint8_t *iv = job.ivs.data() + uint64_t{number} * job.iv_bytes;
  const uint32_t count_bytes = 15 - job.iv_bytes;
  Front front = {};
  front.bytes[0] = static_cast<uint8_t>((aad_length != 0 ? 0x40 : 0) |
                                        (job.tag_bytes - 2) / 2 << 3 | (count_bytes - 1));
  std::memcpy(front.bytes + 1, iv, job.iv_bytes);
  store_big(front.bytes + 1 + job.iv_bytes, job.messages[number].length, count_bytes);
  uint8_t *told = front.bytes + kBlockBytes;
  const uint64_t bytes = length_bytes(aad_length);
  if (bytes > 2) {
    told[0] = 0xff;
    told[1] = bytes == 6 ? 0xfe : 0xff;
    store_big(told + 2, aad_length, bytes - 2);
  } else {
    store_big(told, aad_length, bytes);
  }
  front.length = kBlockBytes + bytes;
  return front;
}

}  // namespace

uint64_t ccm_header_bytes(uint64_t aad_length) {
  return kBlockBytes + whole_blocks(length_bytes(aad_length) + aad_length);
}

void copy_ccm_header(const CipherJob &job, uint32_t message, uint64_t offset, uint64_t bytes,
                     uint8_t *to) {
  const Front front = make_front(job, message);
  const uint64_t aad_end = front.length + job.aead[message].aad_length;
  for (uint64_t end = offset + bytes; offset < end;) {
    uint64_t now = 0;
    if (offset < front.length) {
      now = std::min(end, front.length) - offset;
      std::memcpy(to, front.bytes + offset, now);
    } else if (offset < aad_end) {
      now = std::min(end, aad_end) - offset;
      std::memcpy(to, job.aead[message].aad + (offset - front.length), now);
    } else {
      now = end - offset;
      std::memset(to, 0, now);
    }
    to += now;
    offset += now;
  }
}

Iv ccm_counter(const uint8_t *iv, uint32_t iv_bytes) {
  Iv counter = {};
  counter[0] = static_cast<uint8_t>(15 - iv_bytes - 1);
  std::memcpy(counter.data() + 1, iv, iv_bytes);
  return counter;
}

}  // namespace lanecrypt
