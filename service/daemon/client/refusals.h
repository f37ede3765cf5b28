// Who was turned away: how many, and for the log who and why.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "service/daemon/limits.h"
#include "service/daemon/rate.h"

namespace lanecrypt::service::daemon {

// One thread.
class Refusals {
 public:
  explicit Refusals(std::atomic<uint64_t> &count) : count_(count) {}

  // Counts it, and says in the log what the user does, such as "breaks the protocol". nullopt:
  // the kernel does not tell who he is. Whoever comes over and over does not fill the log: the
  // next line says how many were left out.
  void add(std::optional<uid_t> user, std::string_view what,
           std::chrono::steady_clock::time_point now);

 private:
  std::atomic<uint64_t> &count_;
  Rate lines_{kRefusalLinesEach, kRefusalLinesAtOnce};
  uint64_t left_out_ = 0;
};

}  // namespace lanecrypt::service::daemon
