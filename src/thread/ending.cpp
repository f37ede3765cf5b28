// SPDX-License-Identifier: Apache-2.0
#include "thread/ending.h"

#include <utility>

namespace lanecrypt::runtime {
namespace {

thread_local unsigned telling = 0;

}  // namespace

bool Ending::tells_here() { return telling != 0; }

Ending::Ending(Callback on_end) : tells_someone_(on_end != nullptr) {
  result.struct_size = sizeof result;
  if (on_end != nullptr) on_end_.push_back(std::move(on_end));
}

void Ending::set_enqueued(const Status &status) {
  std::lock_guard lock(mutex_);
  enqueued_ = true;
  enqueued_status_ = status;
  changed_.notify_all();
}

void Ending::tell() {
  std::unique_lock lock(mutex_);
  status_ = failure;
  if (!enqueued_) enqueued_status_ = failure;
  enqueued_ = ended_ = true;
  if (!on_end_.empty()) changed_.notify_all();
  // More may come while these are called.
  while (!on_end_.empty()) {
    const std::vector<Callback> callbacks = std::exchange(on_end_, {});
    lock.unlock();
    ++telling;
    for (const Callback &callback : callbacks) callback(failure, result);
    --telling;
    lock.lock();
  }
  // The waiters are woken last: once they wake, the caller may free what the callbacks used.
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

bool Ending::wait_until(Deadline deadline, Status *status) {
  std::unique_lock lock(mutex_);
  const bool in_time = changed_.wait_until(lock, deadline, [&] { return told_; });
  if (in_time) *status = status_;
  return in_time;
}

void Ending::tell_too(Callback callback) {
  {
    const std::lock_guard untold(untold_);
    const std::lock_guard lock(mutex_);
    if (!told_) {
      on_end_.push_back(std::move(callback));
      tells_someone_ = true;
      return;
    }
  }
  callback(status_, result);
}

std::unique_lock<std::mutex> Ending::keep_untold() {
  std::unique_lock lock(untold_);
  if (tells_someone_) lock.unlock();
  return lock;
}

bool Ending::ended(Status *status) {
  std::lock_guard lock(mutex_);
  if (ended_) *status = status_;
  return ended_;
}

}  // namespace lanecrypt::runtime
