// Gathers the operations of RSA of all threads and all requests into batches
// for one device, keys mixed. Clocked by itself: an idle device takes what is
// there at once; what comes while it works is the next batch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "batch/device_thread.h"
#include "rsa/rsa_engine.h"
#include "rsa/rsa_request.h"

namespace lanecrypt::schedule {

// Any thread. The engine is made, used and destroyed on the batcher's thread,
// which starts with the first call that needs it.
class Batcher : public DeviceThread {
 public:
  // Opens the device for RSA and proves it.
  using OpenEngine = std::function<Result<std::unique_ptr<RsaEngine>>()>;
  // Given a request of which the device leaves `todo` undone. Called on the
  // batcher's threads.
  using HandBack = std::function<void(const RsaRequestPointer &, const Status &)>;

  struct Limits {
    // Most in one batch, where the engine does not want fewer.
    size_t batch_operations = 16384;
    size_t batches = 6;                 // most under way at once
    size_t waiting_operations = 65536;  // beyond which has_room() is false
    // So long nothing may end, though something is under way; longer where that is
    // much.
    std::chrono::milliseconds time{60000};
  };

  Batcher(OpenEngine open, Counters &counters, HandBack hand_back);
  Batcher(OpenEngine open, Counters &counters, HandBack hand_back, Limits limits);
  ~Batcher() override;
  // Finishes what waits and closes the device; takes nothing more.
  void stop();
  // Has stop() leave undone what is not begun.
  void hurry();

  // Operations that wait or are under way.
  size_t load() const { return load_.load(std::memory_order_relaxed); }
  // Whether one more operation may wait; who asks for it may hold it back.
  bool has_room() const { return load() < limits_.waiting_operations; }
  // From now until an operation of the kind that came now would be done; by
  // what batches of that kind took so far, or by `guess`.
  std::chrono::nanoseconds estimate(lc_rsa_operation operation, RsaKind kind,
                                    std::chrono::nanoseconds guess) const;

  // Queues the request's todo, all of it of the kinds given, one for each message.
  // False where the device does not work: nothing was taken.
  bool submit(const RsaRequestPointer &request, std::span<const RsaKind> kinds);

 private:
  using Clock = std::chrono::steady_clock;
  struct Class {
    lc_rsa_operation operation;
    RsaKind kind;
    auto operator<=>(const Class &) const = default;
  };
  struct Waiting {
    RsaRequestPointer request;
    uint32_t message;
  };
  // One batch: what it is made of, and when it should be done.
  struct UnderWay {
    Class what;
    std::vector<Waiting> from;
    std::vector<RsaItem> items;
    std::vector<uint8_t> right;
    std::unique_ptr<RsaBatch> batch;
    // Before and after it was given to the device, which may have to compile first.
    Clock::time_point started, launched;
    Status status;
  };
  using UnderWayPointer = std::unique_ptr<UnderWay>;
  // A part of a batch that is over, for one teller.
  struct Part {
    std::shared_ptr<const UnderWay> batch;
    size_t begin, end;
  };
  static constexpr size_t kBuckets = 20;
  // Nanoseconds that batches of up to 2^n operations took; 0: not known yet.
  using History = std::array<int64_t, kBuckets>;

  void begin_others() override;
  Status open() override;
  bool has_work() const override { return !order_.empty(); }
  void serve(std::unique_lock<std::mutex> &lock) override;
  void fail(std::unique_lock<std::mutex> &lock, const Status &status) override {
    give_up(lock, status);
  }
  void close() override { close_engine(std::move(engine_)); }
  bool is_worth_a_batch() const;
  bool is_overdue() const;
  std::chrono::milliseconds limit() const;
  void look_later(std::unique_lock<std::mutex> &lock);
  void start_next(std::unique_lock<std::mutex> &lock);
  void retire_oldest(std::unique_lock<std::mutex> &lock);
  void give_up(std::unique_lock<std::mutex> &lock, const Status &status, bool is_stuck = false,
               UnderWayPointer undone = nullptr);
  void pass_on(UnderWayPointer batch);
  void tell();
  void tell(const UnderWay &batch, size_t begin, size_t end);
  void end_undone(const Waiting &one, const Status &status);
  void end_right(std::span<const Waiting> of_one_request);
  void finish_request(const RsaRequestPointer &request);
  int64_t expected(const Class &what, size_t operations, int64_t guess) const;

  const OpenEngine open_engine_;
  const HandBack hand_back_;
  const Limits limits_;

  std::atomic<size_t> load_{0};
  bool hurries_ = false;
  std::map<Class, std::deque<Waiting>> queues_;
  std::deque<Class> order_;  // of the queues that are not empty, by their oldest
  std::deque<UnderWayPointer> under_way_;
  Clock::time_point last_end_;  // of a batch
  std::map<Class, History> histories_;
  std::unique_ptr<RsaEngine> engine_;
  uint64_t launches_ = 0;

  // Batches that are over: who waits for them is told by other threads, since
  // waking thousands takes as long as a batch.
  std::mutex done_mutex_;
  std::condition_variable done_changed_;
  std::deque<Part> done_;
  bool telling_ = true;
  std::vector<std::thread> tellers_;
};

}  // namespace lanecrypt::schedule
