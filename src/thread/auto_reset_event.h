// An event for one thread that waits for any of several things. The thread that completes one of
// them sets the event.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace lanecrypt::runtime {

// `AutoResetEvent`: any thread may set it. One thread waits, which resets it.
class AutoResetEvent {
 public:
  void set() {
    std::lock_guard lock(mutex_);
    is_set_ = true;
    changed_.notify_one();
  }
  // Waits until the event is set, for at most `limit`. Returns at once if it was set since the last
  // wait. Returns whether it was set.
  bool wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    const bool was_set = changed_.wait_for(lock, limit, [&] { return is_set_; });
    is_set_ = false;
    return was_set;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_set_ = false;
};

}  // namespace lanecrypt::runtime
