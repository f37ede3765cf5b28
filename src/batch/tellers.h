// Who tells callers that their operations are over: threads of their own, since to wake
// thousands takes as long as a batch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "batch/batch_request.h"
#include "thread/counters.h"

namespace lanecrypt::runtime {

// A batch that is over.
struct EndedBatch {
  std::vector<BatchItem> items;
  std::vector<uint8_t> right;  // of each item, or empty where all are
  Status status;               // of all of them
  // When it was given to the device, and when the results were there.
  std::chrono::steady_clock::time_point started, ended;
};

// Any thread. Their threads run between begin() and stop().
class Tellers {
 public:
  // Given a request of which the device leaves `todo` undone. Called on these threads.
  using HandBack = std::function<void(const BatchRequestPointer &, const Status &)>;

  // load: of which each operation goes when it is over.
  Tellers(Counters &counters, std::atomic<size_t> &load, HandBack hand_back);
  ~Tellers() { stop(); }
  void begin();
  // Tells of what is over, and ends the threads.
  void stop();

  void pass_on(std::shared_ptr<const EndedBatch> batch);
  // Has the lock if all there is to do is to wake one caller: one operation, right, whose end calls
  // nobody, and will not as long as the lock is held.
  static std::unique_lock<std::mutex> keep_lone_untold(const EndedBatch &batch);
  // Wakes him, on this thread.
  void tell_at_once(const EndedBatch &batch) { end_right(batch.items, batch); }

 private:
  // Items for one thread.
  struct Part {
    std::shared_ptr<const EndedBatch> batch;
    size_t begin, end;
  };

  void run();
  void tell(const Part &part);
  void end_undone(const BatchItem &item, const Status &status);
  void end_right(std::span<const BatchItem> of_one_request, const EndedBatch &batch);
  void finish_request(const BatchRequestPointer &request);

  Counters &counters_;
  std::atomic<size_t> &load_;
  const HandBack hand_back_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Part> parts_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace lanecrypt::runtime
