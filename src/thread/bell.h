// A bell for one thread that waits for several things at once. Who has done one of them rings
// it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace lanecrypt::runtime {

// Any thread may ring. One thread waits.
class Bell {
 public:
  void ring() {
    std::lock_guard lock(mutex_);
    rung_ = true;
    changed_.notify_one();
  }
  // Waits for a ring, but no longer than `limit`. Returns at once if it was rung since the last
  // wait. False if it was not rung.
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

}  // namespace lanecrypt::runtime
