// SPDX-License-Identifier: Apache-2.0
#include "schedule/request.h"

#include <algorithm>
#include <cstring>

namespace lanecrypt::schedule {

Request::Request(CipherJob whole, Callback on_end)
    : Ending(std::move(on_end)), job(std::move(whole)) {
  for (uint32_t n = 0; n < job.messages.size(); ++n) {
    const CipherMessage &message = job.messages[n];
    if (message.aad_length != 0) todo.push_back({n, 0, message.aad_length, {}, false, true});
    todo.push_back({n, 0, message.length, message.iv, false});
  }
  if (job.kind.mode().is_aead) {
    aead = std::make_unique<AeadTally>();
    failure = aead->begin(job);
  }
}

uint64_t Request::bytes_left() const {
  uint64_t bytes = 0;
  for (const Piece &piece : todo) bytes += whole_blocks(piece.length);
  return bytes;
}

void Request::put_back(const Piece &piece) {
  Piece whole = piece;
  if (job.kind.is_chain()) {
    // The slices that follow it were cut from the same message and need its
    // output: they become one piece again, which begins with an IV that the
    // host knows.
    for (auto other = todo.begin(); other != todo.end();) {
      if (other->message != piece.message) {
        ++other;
        continue;
      }
      const uint64_t end = std::max(whole.offset + whole.length, other->offset + other->length);
      if (other->offset < whole.offset) {
        whole.offset = other->offset;
        whole.iv = other->iv;
        whole.continues = other->continues;
      }
      whole.length = end - whole.offset;
      other = todo.erase(other);
    }
    if (whole.continues) {
      const uint8_t *out = job.messages[whole.message].out;
      memcpy(whole.iv.data(), out + whole.offset - whole.iv.size(), whole.iv.size());
    }
  }
  todo.push_front(whole);
}

void Request::end() {
  if (aead != nullptr) {
    const Status status = aead->finish(job);
    if (failure.ok()) failure = status;
  }
  // The key is of no more use, whoever still holds the request.
  secure::wipe(job.keys.data(), job.keys.size());
  tell();
}

}  // namespace lanecrypt::schedule
