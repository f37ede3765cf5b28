// Which process of a family of forks may use something of which a child cannot use its parent's,
// such as a driver with threads of its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "process/forks.h"

namespace lanecrypt::process {

// Static, and made by the compiler. Any thread. It has no lock: a child that was forked amid its
// parent's first use must not wait for a thread that it does not have.
class FirstUser {
 public:
  // Before any use. False in a child of the process that has begun; it must not even wait for what
  // another thread is making.
  bool begin() {
    uint64_t user = kNobody;
    const uint64_t here = forks();
    return user_.compare_exchange_strong(user, here) || user == here;
  }
  // Whether a parent of this process has begun.
  bool is_parent() const {
    const uint64_t user = user_;
    return user != kNobody && user != forks();
  }

 private:
  static constexpr uint64_t kNobody = UINT64_MAX;
  std::atomic<uint64_t> user_{kNobody};  // its forks()
};

}  // namespace lanecrypt::process
