// Decides which process of a family of forks may use something that a child cannot share with its
// parent, such as a driver with threads of its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "process/forks.h"

namespace lanecrypt::process {

// FirstUser must have static storage and is initialised at compile time. It is thread-safe and
// lock-free: a child that was forked during its parent's first use must not wait for a thread that
// it does not have.
class FirstUser {
 public:
  // begin() must be called before any use. It returns false in a child of the process that has
  // begun. Such a child must not even wait for something that another thread is creating.
  bool begin() {
    uint64_t user = kNobody;
    const uint64_t here = forks();
    return user_.compare_exchange_strong(user, here) || user == here;
  }
  // is_parent() says whether a parent of this process has begun.
  bool is_parent() const {
    const uint64_t user = user_;
    return user != kNobody && user != forks();
  }

 private:
  static constexpr uint64_t kNobody = UINT64_MAX;
  std::atomic<uint64_t> user_{kNobody};  // forks() of the user
};

}  // namespace lanecrypt::process
