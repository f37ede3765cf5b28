// SPDX-License-Identifier: Apache-2.0
#include "work/todo.h"

#include "job/cipher/ccm_format.h"

namespace lanecrypt::runtime {

uint64_t stream_bytes(const CipherJob &job, uint32_t message) {
  const uint64_t length = job.messages[message].length;
  return job.kind.is_ccm() ? length + ccm_header_bytes(job.aead[message].aad_length) : length;
}

void Todo::begin() {
  if (job_.segments) {
    made_.push_back({0, 0, job_.bytes, {}, false});
    return;
  }
  unmade_ = job_.messages.size();
  // In CCM the additional data are part of the header.
  if (!job_.kind.is_ccm()) unmade_ += job_.aad_count;
}

void Todo::push_back_message(uint32_t number) {
  all();
  make(number);
}

void Todo::clear() {
  made_.clear();
  unmade_ = 0;
}

size_t Todo::make(uint32_t number) {
  size_t pieces = 1;
  if (job_.kind.info().is_aead && !job_.kind.is_ccm())
    if (const uint64_t aad_length = job_.aead[number].aad_length; aad_length != 0) {
      made_.push_back({number, 0, aad_length, {}, false, true});
      ++pieces;
    }
  made_.push_back({number, 0, stream_bytes(job_, number), job_.messages[number].iv, false});
  return pieces;
}

}  // namespace lanecrypt::runtime
