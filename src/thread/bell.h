// What a thread waits on that has several things to wait for: whoever brings
// one about rings.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace lanecrypt::schedule {

// Any thread rings; one thread waits.
class Bell {
 public:
  void ring() {
    std::lock_guard lock(mutex_);
    rung_ = true;
    changed_.notify_one();
  }
  // Returns at once if it was rung since the last wait; false where it is not
  // rung for so long.
  bool wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    const bool rung = changed_.wait_for(lock, limit, [&] { return rung_; });
    rung_ = false;
    return rung;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
};

}  // namespace lanecrypt::schedule
