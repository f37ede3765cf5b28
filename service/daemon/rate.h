// A token bucket: allows a burst of events, and then one event in each interval.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace lanecrypt::service::daemon {

// Not thread-safe.
class Rate {
 public:
  using Clock = std::chrono::steady_clock;

  Rate(Clock::duration each, size_t at_once) : each_(each), at_once_(at_once) {}
  // Takes one event. Returns false if it comes too soon. `now` must not decrease.
  bool take(Clock::time_point now) {
    if (free_at_ > now) return false;
    charge(now, 1);
    return true;
  }
  // Takes `count` events, even if fewer are left; later ones then wait longer.
  void charge(Clock::time_point now, size_t count) {
    free_at_ = std::max(free_at_, now - each_ * int64_t(at_once_ - 1)) + each_ * int64_t(count);
  }
  // Returns the time from which take() returns true.
  Clock::time_point free_at() const { return free_at_; }
  // Returns whether the full burst is available, as in a new Rate.
  bool is_rested(Clock::time_point now) const {
    return free_at_ <= now - each_ * int64_t(at_once_ - 1);
  }

 private:
  const Clock::duration each_;
  const size_t at_once_;
  // The time from which take() returns true. Each interval by which it lies in the past is one more
  // event that may come at once.
  Clock::time_point free_at_ = Clock::time_point::min();
};

}  // namespace lanecrypt::service::daemon
