// SPDX-License-Identifier: Apache-2.0
#include "thread/workers.h"

#include <algorithm>
#include <atomic>
#include <exception>

#include "process/thread.h"
#include "thread/signals.h"

namespace lanecrypt::runtime {

struct Workers::Work {
  size_t count, begun = 0, ended = 0;
  std::function<void(size_t)> part;
  std::function<void()> after;
};

Workers::Workers(unsigned most_threads, std::function<void()> on_start)
    : most_threads_(most_threads), on_start_(std::move(on_start)) {}

Workers::~Workers() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  for (std::thread &thread : threads_) thread.join();
}

void Workers::give(size_t count, std::function<void(size_t)> part, std::function<void()> after) {
  auto work = std::make_shared<Work>();
  work->count = count;
  work->part = std::move(part);
  work->after = std::move(after);
  std::unique_lock lock(mutex_);
  const size_t wanted = std::max<size_t>(count, 1);
  while (idle_ < wanted && threads_.size() < most_threads_ && start_thread()) {
  }
  if (threads_.empty()) {
    lock.unlock();
    for (size_t n = 0; n < count; ++n) work->part(n);
    if (work->after) work->after();
    return;
  }
  queue_.push_back(std::move(work));
  for (size_t n = 0; n < std::min<size_t>(wanted, most_threads_); ++n) changed_.notify_one();
}

void Workers::share(size_t count, const std::function<void(size_t)> &part) {
  // A worker that starts after all parts have begun finds nothing to do. `part` may not exist any
  // more by then.
  struct Shared {
    std::atomic<size_t> begun = 0, ended = 0;
  };
  const auto shared = std::make_shared<Shared>();
  const auto take_part = [shared, count, &part] {
    for (size_t n = shared->begun++; n < count; n = shared->begun++) {
      part(n);
      ++shared->ended;
      shared->ended.notify_all();
    }
  };
  if (count > 1)
    give(
        std::min<size_t>(count - 1, most_threads_), [take_part](size_t) { take_part(); }, nullptr);
  take_part();
  for (size_t ended = shared->ended; ended < count; ended = shared->ended)
    shared->ended.wait(ended);
}

// Starts a thread. Returns false if the system has no more threads, or no memory for one. Then
// fewer threads do the work.
bool Workers::start_thread() {
  // The first work may come from a thread of the caller.
  const SignalsBlocked blocked;
  try {
    threads_.reserve(threads_.size() + 1);  // push_back() must not fail for a running thread
    threads_.push_back(process::start_thread([this] { serve(); }));
  } catch (const std::exception &) {
    return false;
  }
  ++idle_;  // the thread will look for work at once
  return true;
}

void Workers::serve() {
  if (on_start_) on_start_();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    --idle_;
    const std::shared_ptr<Work> work = queue_.front();
    while (work->begun < work->count) {
      const size_t number = work->begun++;
      if (work->begun == work->count) queue_.pop_front();
      lock.unlock();
      work->part(number);
      lock.lock();
      ++work->ended;
    }
    if (work->count == 0) queue_.pop_front();
    if (work->ended == work->count && work->after) {
      const std::function<void()> after = std::move(work->after);
      work->after = nullptr;
      lock.unlock();
      after();
      lock.lock();
    }
    ++idle_;
  }
}

}  // namespace lanecrypt::runtime
