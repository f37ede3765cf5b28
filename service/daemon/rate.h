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
    const Clock::time_point next = std::max(free_at_, now - each_ * int64_t(at_once_ - 1));
    if (next > now) return false;
    free_at_ = next + each_;
    return true;
  }
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
