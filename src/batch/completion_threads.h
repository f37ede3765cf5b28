// Threads that complete requests whose operations are over, since to wake thousands of callers
// takes as long as a batch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "batch/batch_request.h"
#include "batch/item_results.h"
#include "batch/repairs.h"
#include "thread/counters.h"

namespace lanecrypt::runtime {

// A batch that is over.
struct EndedBatch {
  EndedBatch() = default;
  EndedBatch(const EndedBatch &) = delete;
  std::vector<BatchItem> items;
  ItemResults results;
  Failure failure;  // of all of them
  // When it was given to the device, and when the results were there.
  std::chrono::steady_clock::time_point started, ended;
  // For the completion threads, which need no memory to take it: their next batch, and how many of
  // the items of this one a thread has.
  std::shared_ptr<EndedBatch> next;
  size_t begun = 0;
};

// Any thread may call it. Its threads run between begin() and stop(). enqueue() needs no memory.
class CompletionThreads {
 public:
  // Gets a request of which the device leaves `todo` undone. Called on these threads.
  using HandBack = std::function<void(const BatchRequestPointer &, const Status &)>;

  // Called on one of these threads or of the repairs: the device gave a wrong result, as the CPU
  // proved by making a right one.
  using OnWrong = std::function<void()>;

  // load: of which each operation goes when the device has no more to do with it.
  CompletionThreads(Counters &counters, std::atomic<size_t> &load, HandBack hand_back,
                    OnWrong on_wrong);
  ~CompletionThreads() { stop(); }
  void begin();
  // Completes what is over, and ends the threads.
  void stop();
  // What is wrong from now on ends unrepaired: the process ends.
  void cancel_pending() { cancels_pending_ = true; }

  void enqueue(std::shared_ptr<EndedBatch> batch) noexcept;
  // For a thread that must not call anybody: an operation of which the device does no more.
  void give_back(const BatchItem &item, const Failure &why) noexcept;
  // Returns an owned lock if all there is to do is to wake one caller: one operation, right,
  // without a callback, and none can be added while the lock is held.
  static std::unique_lock<std::mutex> lock_callbacks_of_one(const EndedBatch &batch);
  // Wakes that caller, on the calling thread.
  void complete_now(const EndedBatch &batch) { end_right(batch.items, batch); }

 private:
  void run();
  void complete(const EndedBatch &batch, size_t part_begin, size_t part_end);
  static bool note_failed(const BatchItem &item, const Failure &why) noexcept;
  void end_undone(const EndedBatch &batch, size_t n);
  void end_failed(const BatchItem &item, const Failure &why);
  void repair(const BatchItem &item);
  void end_right(std::span<const BatchItem> of_one_request, const EndedBatch &batch);
  void finish_request(const BatchRequestPointer &request);

  Counters &counters_;
  std::atomic<size_t> &load_;
  const HandBack hand_back_;
  const OnWrong on_wrong_;
  std::atomic<bool> cancels_pending_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  // The batches that have items for a thread, and the requests that give_back() has left.
  std::shared_ptr<EndedBatch> first_;
  EndedBatch *last_ = nullptr;
  BatchRequestPointer left_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
  Repairs repairs_;
};

}  // namespace lanecrypt::runtime
