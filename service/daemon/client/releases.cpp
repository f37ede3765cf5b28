// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/client/releases.h"

#include <new>
#include <utility>

#include "process/new_thread.h"
#include "service/daemon/client/session.h"

namespace lanecrypt::service::daemon {

void Releases::start() {
  thread_ = process::new_thread([this] { run(); });
}

void Releases::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Releases::add(std::shared_ptr<Session> session) {
  bool is_added = false;
  try {
    const std::lock_guard lock(mutex_);
    if (!is_stopping_) sessions_.push_back(session), is_added = true;
  } catch (const std::bad_alloc &) {
    // Falls through: the session ends on this thread.
  }
  if (!is_added) return session->end();
  changed_.notify_one();
}

void Releases::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_stopping_ || !sessions_.empty(); });
    if (sessions_.empty()) return;
    std::shared_ptr<Session> session = std::move(sessions_.front());
    sessions_.pop_front();
    lock.unlock();
    session->end();
    session.reset();
    lock.lock();
  }
}

}  // namespace lanecrypt::service::daemon
