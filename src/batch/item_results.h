// What became of each operation of a batch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "batch/failure.h"

namespace lanecrypt::runtime {

// Every operation begins as right. Several threads may mark different operations at once.
class ItemResults {
 public:
  explicit ItemResults(size_t count = 0) : states_(count, kRight) {}

  size_t size() const { return states_.size(); }
  bool is_right(size_t n) const { return states_[n] == kRight; }
  // Whether the device gave a result that is wrong. It is then not written.
  bool is_wrong(size_t n) const { return states_[n] == kWrong; }
  void mark_wrong(size_t n) { states_[n] = kWrong; }

  // Notes that an operation has no result, and why. One thread at a time.
  void fail(size_t n, Failure why) {
    states_[n] = kFailed;
    failures_.insert_or_assign(n, std::move(why));
  }
  // The status of an operation that is neither right nor wrong.
  const Failure &failure(size_t n) const { return failures_.at(n); }
  bool has_any_right() const {
    return std::find(states_.begin(), states_.end(), kRight) != states_.end();
  }
  bool are_all_right() const {
    return std::all_of(states_.begin(), states_.end(), [](uint8_t each) { return each == kRight; });
  }

 private:
  enum State : uint8_t { kRight, kWrong, kFailed };
  std::vector<uint8_t> states_;
  std::map<size_t, Failure> failures_;
};

// Has the CPU check `count` of a batch's results, from `first` on in a circle, except those that
// are known not to be right. If it finds a wrong one, it checks all the others too, since the
// device's own check has let that one pass. `is_right` computes whether result n is right; an error
// is the CPU's own, so it ends that operation and says nothing of the device.
inline void spot_check(ItemResults &results, size_t first, size_t count,
                       const std::function<Result<bool>(size_t n)> &is_right) {
  const size_t all = results.size();
  for (size_t n = 0; n < all && n < count; ++n) {
    const size_t at = (first + n) % all;
    if (!results.is_right(at)) continue;
    Result<bool> right = is_right(at);
    if (!right.ok()) {
      results.fail(at, Failure::of_item(right.status()));
    } else if (!*right) {
      results.mark_wrong(at);
      count = all;
    }
  }
}

}  // namespace lanecrypt::runtime
