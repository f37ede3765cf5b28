// Gathers the operations of one family, of all threads and all requests, into batches for
// one device, keys mixed. Clocked by itself: an idle device takes what is there at once;
// what comes while it works is the next batch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "batch/batch_engine.h"
#include "batch/batch_request.h"
#include "batch/completion_threads.h"
#include "batch/device_thread.h"

namespace lanecrypt::runtime {

// Any thread. The engine is made, used and destroyed on the batcher's thread,
// which starts with the first call that needs it.
class Batcher : public DeviceThread {
 public:
  // Opens the device for the family and proves it.
  using OpenEngine = std::function<Result<std::unique_ptr<BatchEngine>>()>;

  struct Limits {
    // Most in one batch, where the engine does not want fewer.
    size_t batch_operations = 16384;
    size_t batches = 6;                 // most under way at once
    size_t waiting_operations = 65536;  // beyond which has_room() is false
    // So long nothing may end, though something is under way; longer where that is
    // much.
    std::chrono::milliseconds time{60000};
  };

  Batcher(OpenEngine open, Counters &counters, CompletionThreads::HandBack hand_back);
  Batcher(OpenEngine open, Counters &counters, CompletionThreads::HandBack hand_back,
          Limits limits);
  ~Batcher() override;
  // Finishes what waits and closes the device; takes nothing more.
  void stop();
  // Has stop() leave undone what is not begun.
  void cancel_pending();

  // Operations that wait or are under way.
  size_t load() const { return load_.load(std::memory_order_relaxed); }
  // Whether one more operation may wait; who asks for it may hold it back.
  bool has_room() const { return load() < limits_.waiting_operations; }
  // From now until an operation of the kind that came now would be done; by
  // what batches of that kind took so far, or by `guess`.
  std::chrono::nanoseconds estimate(BatchKind kind, std::chrono::nanoseconds guess) const;

  // Queues the request's todo, all of it that suits devices. False where the device does
  // not work: nothing was taken.
  bool submit(const BatchRequestPointer &request);

 private:
  using Clock = std::chrono::steady_clock;
  // One batch: what it is made of, and when it should be done.
  struct UnderWay : EndedBatch {
    BatchKind kind;
    std::unique_ptr<Batch> batch;
    // After it was given to the device, which may have to compile first.
    Clock::time_point launched;
  };
  using UnderWayPointer = std::shared_ptr<UnderWay>;
  static constexpr size_t kBuckets = 20;
  // Nanoseconds that batches of up to 2^n operations took; 0: not known yet.
  using History = std::array<int64_t, kBuckets>;

  void begin_others() override { completion_threads_.begin(); }
  Status open() override;
  bool has_work() const override { return !order_.empty() || (is_suspect_ && !stopping_); }
  void serve(std::unique_lock<std::mutex> &lock) override;
  void fail(std::unique_lock<std::mutex> &lock, const Status &status) override {
    give_up(lock, status);
  }
  void close() override { close_engine(std::move(engine_)); }

  void queue(const BatchRequestPointer &request);
  void take_back(const BatchRequestPointer &request);
  void hand_back(std::deque<BatchItem> &queue, size_t count, const Failure &why);
  std::list<UnderWayPointer> make_batch(BatchKind kind, size_t count);
  bool is_worth_a_batch() const;
  size_t best_batch(BatchKind kind) const;
  size_t worth_of(BatchKind kind) const;
  bool is_overdue() const;
  std::chrono::milliseconds limit() const;
  void look_for_arrivals(std::unique_lock<std::mutex> &lock);
  bool is_lone_about_to_end() const;
  void watch(std::unique_lock<std::mutex> &lock);
  void look_later(std::unique_lock<std::mutex> &lock);
  BatchEngine::Started start(UnderWay &batch);
  static Failure finish(UnderWay &batch);
  void suspect();
  bool is_time_to_prove() const;
  void prove(std::unique_lock<std::mutex> &lock);
  void start_next(std::unique_lock<std::mutex> &lock);
  void retire_oldest(std::unique_lock<std::mutex> &lock);
  void give_up(std::unique_lock<std::mutex> &lock, const Status &status, bool is_stuck = false,
               UnderWayPointer undone = nullptr);
  int64_t expected(BatchKind kind, size_t operations, int64_t guess) const;

  const OpenEngine open_engine_;
  const Limits limits_;

  std::atomic<size_t> load_{0};
  CompletionThreads completion_threads_;
  bool cancels_pending_ = false;
  std::map<BatchKind, std::deque<BatchItem>> queues_;
  std::list<BatchKind> order_;  // of the queues that are not empty, by their oldest
  std::list<UnderWayPointer> under_way_;
  // While it looks for arrivals: how many of a kind, or of one request, wake it; else 0.
  size_t wake_at_ = 0;
  Clock::time_point last_end_;  // of a batch
  std::map<BatchKind, History> histories_;
  std::unique_ptr<BatchEngine> engine_;
  uint64_t launches_ = 0;
  // The device gave a wrong result, at suspect_since_, and has not passed its self-test since.
  bool is_suspect_ = false;
  Clock::time_point suspect_since_, next_proof_;
};

}  // namespace lanecrypt::runtime
