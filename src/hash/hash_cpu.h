// Jobs of hashes on the CPU, by several cores.
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

// Any thread.
class HashCpu {
 public:
  // Takes so many cores at most.
  HashCpu(Counters &counters, unsigned cores)
      : counters_(counters), workers_(std::make_shared<Workers>(cores)) {}
  ~HashCpu() { stop(); }
  // Ends what it has. cancel_pending() has it leave undone what is not begun.
  void stop();
  void cancel_pending() { cancels_pending_ = true; }
  // Ends the request. Throws nothing.
  void submit(const HashRequestPointer &request);
  // Its threads, for other work that one thread would take too long for.
  Workers &workers() { return *workers_; }

 private:
  void start(const HashRequestPointer &request, Workers &workers);

  Counters &counters_;
  std::atomic<bool> cancels_pending_ = false;
  std::mutex mutex_;
  // nullptr once it is stopped. Who gives them work just then still has them.
  std::shared_ptr<Workers> workers_;
};

}  // namespace lanecrypt::runtime
