// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace lanecrypt::service::daemon {

// Counts a thread of the service as running for as long as the object lives.
class Running {
 public:
  explicit Running(std::atomic<int32_t> &threads) : threads_(threads) {
    threads_.fetch_add(1, std::memory_order_relaxed);
  }
  ~Running() { threads_.fetch_sub(1, std::memory_order_relaxed); }
  Running(const Running &) = delete;

 private:
  std::atomic<int32_t> &threads_;
};

}  // namespace lanecrypt::service::daemon
