// The owner of the jobs that the calling thread submits (lc_completion.owner).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanecrypt::runtime {

// While a `JobOwner` exists, the requests that its thread makes belong to `owner`. Otherwise they
// belong to nobody: 0.
class JobOwner {
 public:
  explicit JobOwner(uint64_t owner) : before_(current_) { current_ = owner; }
  ~JobOwner() { current_ = before_; }
  JobOwner(const JobOwner &) = delete;

  static uint64_t current() { return current_; }

 private:
  static inline thread_local uint64_t current_ = 0;
  const uint64_t before_;
};

}  // namespace lanecrypt::runtime
