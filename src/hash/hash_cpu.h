// Hash jobs on the CPU, on several threads.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "hash/hash_request.h"
#include "thread/counters.h"
#include "thread/workers.h"

namespace lanecrypt::runtime {

// `HashCpu` runs hash jobs on the CPU. Thread-safe.
class HashCpu {
 public:
  // Uses at most `cores` threads.
  HashCpu(Counters &counters, unsigned cores)
      : counters_(counters), workers_(std::make_shared<Workers>(cores)) {}
  ~HashCpu() { stop(); }
  // Completes the jobs that it has. After cancel_pending(), work that has not begun fails instead.
  void stop();
  void cancel_pending() { cancels_pending_ = true; }
  // Runs the request, and completes it in any case. Does not throw.
  void submit(const HashRequestPointer &request);
  // Returns the threads, for other work that would take one thread too long.
  Workers &workers() { return *workers_; }

 private:
  void start(const HashRequestPointer &request, Workers &workers);

  Counters &counters_;
  std::atomic<bool> cancels_pending_ = false;
  std::mutex mutex_;
  // nullptr after stop(). A caller that submits work at that moment still holds a reference.
  std::shared_ptr<Workers> workers_;
};

}  // namespace lanecrypt::runtime
