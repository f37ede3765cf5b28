// How often something may be done: some at once, and then one each so long.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace lanecrypt::service::daemon {

// One thread.
class Rate {
 public:
  using Clock = std::chrono::steady_clock;

  Rate(Clock::duration each, size_t at_once) : each_(each), at_once_(at_once) {}
  // False where it is too soon. `now` never goes back.
  bool take(Clock::time_point now) {
    if (free_at_ > now) return false;
    charge(now, 1);
    return true;
  }
  // Takes `count` at once, also more than are left. Later ones wait for them.
  void charge(Clock::time_point now, size_t count) {
    free_at_ = std::max(free_at_, now - each_ * int64_t(at_once_ - 1)) + each_ * int64_t(count);
  }
  // From when on take() gives one.
  Clock::time_point free_at() const { return free_at_; }
  // Whether a new one would allow no more.
  bool is_rested(Clock::time_point now) const {
    return free_at_ <= now - each_ * int64_t(at_once_ - 1);
  }

 private:
  const Clock::duration each_;
  const size_t at_once_;
  // When one more would be free if none had been left over.
  Clock::time_point free_at_ = Clock::time_point::min();
};

}  // namespace lanecrypt::service::daemon
