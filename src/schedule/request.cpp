// SPDX-License-Identifier: Apache-2.0
#include "schedule/request.h"

#include <algorithm>
#include <cstring>

namespace lanecrypt::schedule {

Request::Request(CipherJob whole, Callback on_end)
    : job(std::move(whole)), on_end_(std::move(on_end)) {
  for (uint32_t n = 0; n < job.messages.size(); ++n)
    todo.push_back({n, 0, job.messages[n].length, job.messages[n].iv, false});
  result.struct_size = sizeof result;
}

uint64_t Request::bytes_left() const {
  uint64_t bytes = 0;
  for (const Piece &piece : todo) bytes += piece.length;
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

void Request::set_enqueued() {
  std::lock_guard lock(mutex_);
  enqueued_ = true;
  changed_.notify_all();
}

void Request::end() {
  // The key is of no more use, whoever still holds the request.
  secure::wipe(job.keys.data(), job.keys.size());
  {
    std::lock_guard lock(mutex_);
    status_ = failure;
    enqueued_ = ended_ = true;
    changed_.notify_all();
  }
  if (on_end_) on_end_(failure);
  // Waiters wake last: once they do, the caller may free what on_end_ used.
  std::lock_guard lock(mutex_);
  told_ = true;
  changed_.notify_all();
}

void Request::wait_enqueued() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return enqueued_; });
}

Status Request::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return told_; });
  return status_;
}

bool Request::ended(Status *status) {
  std::lock_guard lock(mutex_);
  if (ended_) *status = status_;
  return ended_;
}

}  // namespace lanecrypt::schedule
