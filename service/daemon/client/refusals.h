// Counts the clients that were refused, and logs users and reasons.
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

// Not thread-safe.
class Refusals {
 public:
  explicit Refusals(std::atomic<uint64_t> &count) : count_(count) {}

  // Counts a refused client and logs its user and `what` it did, such as "breaks the protocol".
  // nullopt: the kernel does not report the user. The number of lines is limited, so that a client
  // cannot fill the log; the next line tells how many were left out.
  void add(std::optional<uid_t> user, std::string_view what,
           std::chrono::steady_clock::time_point now);

 private:
  std::atomic<uint64_t> &count_;
  Rate lines_{kRefusalLinesEach, kRefusalLinesAtOnce};
  uint64_t left_out_ = 0;
};

}  // namespace lanecrypt::service::daemon
