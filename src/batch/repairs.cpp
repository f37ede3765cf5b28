// SPDX-License-Identifier: Apache-2.0
#include "batch/repairs.h"

#include <algorithm>
#include <exception>

#include "cpu/core_count.h"
#include "process/thread.h"
#include "thread/signals.h"

namespace lanecrypt::runtime {
namespace {

size_t most_threads() { return std::clamp<size_t>(cpu::usable_cores() / 4, 1, 4); }

}  // namespace

void Repairs::add(const BatchItem &item) {
  bool is_queued = false;
  {
    const std::lock_guard lock(mutex_);
    try {
      if (!stopping_ && idle_ == 0 && threads_.size() < most_threads()) {
        const SignalsBlocked blocked;
        threads_.reserve(threads_.size() + 1);  // a thread that runs must find its place
        threads_.push_back(process::start_thread([this] { run(); }));
      }
    } catch (const std::exception &) {
      // Those that there are do it.
    }
    if (!stopping_ && !threads_.empty()) {
      is_queued = queue(item);
      changed_.notify_one();
    }
  }
  if (!is_queued) repair_(item);
}

// Under the lock. False if there is no memory for it.
bool Repairs::queue(const BatchItem &item) {
  std::list<uint64_t> turn;
  try {
    turn.push_back(item.request->owner);
    std::deque<BatchItem> &line = waiting_[item.request->owner];
    line.push_back(item);
    if (line.size() == 1) turns_.splice(turns_.end(), turn);
    return true;
  } catch (const std::exception &) {
    const auto line = waiting_.find(item.request->owner);
    if (line != waiting_.end() && line->second.empty()) waiting_.erase(line);
    return false;
  }
}

void Repairs::stop() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
    changed_.notify_all();
  }
  for (std::thread &thread : threads) thread.join();
}

void Repairs::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return stopping_ || !turns_.empty(); });
    --idle_;
    if (turns_.empty()) return;
    const uint64_t owner = turns_.front();
    const auto line = waiting_.find(owner);
    {
      const BatchItem item = std::move(line->second.front());
      line->second.pop_front();
      // The turn moves behind the others, which wants no memory.
      turns_.splice(turns_.end(), turns_, turns_.begin());
      if (line->second.empty()) {
        waiting_.erase(line);
        turns_.pop_back();
      }
      lock.unlock();
      repair_(item);
    }
    lock.lock();
  }
}

}  // namespace lanecrypt::runtime
