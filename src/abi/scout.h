// A thread for what no caller waits for: looking for devices, opening and measuring
// them, while the CPU does what is asked.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "abi/process_end.h"

namespace lanecrypt {

// Any thread. Of a child of fork it is the parent's, and left alone.
class Scout {
 public:
  // To be left early once `stopped`.
  using Errand = std::function<void(const std::atomic<bool> &stopped)>;

  Scout();
  // Waits for the errand.
  ~Scout() { end(); }
  Scout(const Scout &) = delete;

  // On the thread, unless it is away. Without a thread there is no errand.
  void send(Errand errand);
  // As AtProcessEnd has it.
  bool withdraw() { return at_end_.withdraw(); }

  // Adds to what the CPU did that a device might have done; the sum so far.
  uint64_t count(uint64_t bytes) {
    return bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  }

 private:
  void end();

  AtProcessEnd at_end_;
  std::atomic<uint64_t> bytes_{0};
  std::atomic<bool> is_away_{false}, stopped_{false};
  std::mutex mutex_;
  std::thread thread_;
};

}  // namespace lanecrypt
