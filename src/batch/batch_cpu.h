// The CPU in the place of a device: all cores that are ours to use.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "batch/batch_request.h"
#include "thread/counters.h"

namespace lanecrypt::runtime {

// Any thread. Starts as many threads as there are cores to use, as work comes.
class BatchCpu {
 public:
  // The cores are those that this thread may use.
  explicit BatchCpu(Counters &counters);
  ~BatchCpu() { stop(); }
  // Finishes what waits, and ends the threads; what comes later is refused. cancel_pending()
  // has it leave undone what is not begun.
  void stop();
  void cancel_pending() { cancels_pending_ = true; }
  // Ends each request.
  void submit(const BatchRequestPointer &request);

 private:
  void run();
  void count(BatchRequest &request, const Status &status, uint32_t bytes);

  Counters &counters_;
  const size_t most_threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<BatchRequestPointer> queue_;  // each with operations that no thread has
  size_t waiting_threads_ = 0;
  bool stopping_ = false;
  std::atomic<bool> cancels_pending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace lanecrypt::runtime
