// SPDX-License-Identifier: Apache-2.0
#include "thread/completion.h"

#include <utility>

namespace lanecrypt::runtime {
namespace {

thread_local unsigned callbacks_running = 0;

}  // namespace

bool Completion::in_callback() { return callbacks_running != 0; }

Completion::Completion(Callback callback) : has_callback_(callback != nullptr) {
  result.struct_size = sizeof result;
  if (callback != nullptr) callbacks_.push_back(std::move(callback));
}

void Completion::set_enqueued(const Status &status) {
  std::lock_guard lock(mutex_);
  enqueued_ = true;
  enqueued_status_ = status;
  changed_.notify_all();
}

void Completion::complete() {
  std::unique_lock lock(mutex_);
  status_ = failure;
  if (!enqueued_) enqueued_status_ = failure;
  enqueued_ = ended_ = true;
  if (!callbacks_.empty()) changed_.notify_all();
  // Callbacks may be added while these run.
  while (!callbacks_.empty()) {
    const std::vector<Callback> callbacks = std::exchange(callbacks_, {});
    lock.unlock();
    ++callbacks_running;
    for (const Callback &callback : callbacks) callback(failure, result);
    --callbacks_running;
    lock.lock();
  }
  // The waiters are woken last: once they wake, the caller may free what the callbacks used.
  callbacks_done_ = true;
  changed_.notify_all();
}

Status Completion::wait_enqueued() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return enqueued_; });
  return enqueued_status_;
}

Status Completion::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return callbacks_done_; });
  return status_;
}

bool Completion::wait_until(Deadline deadline, Status *status) {
  std::unique_lock lock(mutex_);
  const bool in_time = changed_.wait_until(lock, deadline, [&] { return callbacks_done_; });
  if (in_time) *status = status_;
  return in_time;
}

void Completion::add_callback(Callback callback) {
  {
    const std::lock_guard callbacks_lock(callbacks_mutex_);
    const std::lock_guard lock(mutex_);
    if (!callbacks_done_) {
      callbacks_.push_back(std::move(callback));
      has_callback_ = true;
      return;
    }
  }
  callback(status_, result);
}

std::unique_lock<std::mutex> Completion::lock_callbacks() {
  std::unique_lock lock(callbacks_mutex_);
  if (has_callback_) lock.unlock();
  return lock;
}

bool Completion::ended(Status *status) {
  std::lock_guard lock(mutex_);
  if (ended_) *status = status_;
  return ended_;
}

}  // namespace lanecrypt::runtime
