// SPDX-License-Identifier: Apache-2.0
#include "batch/device_thread.h"

#include "batch/failure.h"
#include "thread/signals.h"

namespace lanecrypt::runtime {

Status DeviceThread::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

DeviceService DeviceThread::service() const {
  const std::lock_guard lock(mutex_);
  if (!failed_) return {open_ ? LC_DEVICE_READY : LC_DEVICE_UNTRIED, ""};
  return {open_ ? LC_DEVICE_LOST : LC_DEVICE_UNUSABLE, status_.text()};
}

void DeviceThread::begin() {
  if (thread_.runs()) return;
  const SignalsBlocked blocked;
  begin_others();
  thread_.begin(is_device_, [this] { run(); });
}

void DeviceThread::end() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void DeviceThread::warm_up() {
  if (open_ || !may_work()) return;
  const std::lock_guard lock(mutex_);
  if (open_ || wanted_ || !may_work()) return;
  wanted_ = true;
  begin();
  changed_.notify_all();
}

void DeviceThread::note_failure(const Status &status) {
  failed_ = true;
  status_ = status;
  ++counters_.failures;
}

void DeviceThread::run() {
  std::unique_lock lock(mutex_);
  while (!failed_) {
    changed_.wait(lock, [&] { return stopping_ || wanted_ || has_work(); });
    wanted_ = false;
    if (stopping_ && !has_work()) break;
    if (!open_) {
      lock.unlock();
      const Status opened = guarded([this] { return open(); });
      lock.lock();
      if (!opened.ok()) {
        fail(lock, opened);
        break;
      }
      open_ = true;
      thread_.end_opening();
    }
    serve(lock);
  }
  lock.unlock();
  close();
}

}  // namespace lanecrypt::runtime
