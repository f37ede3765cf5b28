// SPDX-License-Identifier: Apache-2.0
#include "thread/ending.h"

namespace lanecrypt::runtime {

Ending::Ending(Callback on_end) : on_end_(std::move(on_end)) { result.struct_size = sizeof result; }

void Ending::set_enqueued(const Status &status) {
  std::lock_guard lock(mutex_);
  enqueued_ = true;
  enqueued_status_ = status;
  changed_.notify_all();
}

void Ending::tell() {
  {
    std::lock_guard lock(mutex_);
    status_ = failure;
    if (!enqueued_) enqueued_status_ = failure;
    enqueued_ = ended_ = true;
    told_ = !on_end_;
    changed_.notify_all();
    if (told_) return;
  }
  on_end_(failure, result);
  // The waiters are woken last: once they wake, the caller may free what on_end_ used.
  std::lock_guard lock(mutex_);
  told_ = true;
  changed_.notify_all();
}

Status Ending::wait_enqueued() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return enqueued_; });
  return enqueued_status_;
}

Status Ending::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return told_; });
  return status_;
}

bool Ending::ended(Status *status) {
  std::lock_guard lock(mutex_);
  if (ended_) *status = status_;
  return ended_;
}

}  // namespace lanecrypt::runtime
