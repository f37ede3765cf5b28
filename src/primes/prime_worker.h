// Searches for primes on one device, or on the CPU, for all who make keys there:
// what they want together is one launch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "primes/generation.h"
#include "primes/prime_tester.h"
#include "thread/counters.h"
#include "thread/device_service.h"
#include "thread/openings.h"

namespace lanecrypt::schedule {

// Any thread. The tester is made, used and destroyed on the worker's thread,
// which starts with the first call that needs it.
class PrimeWorker {
 public:
  using Open = std::function<Result<std::unique_ptr<PrimeTester>>()>;
  // Given a job that this worker cannot finish, on the worker's thread.
  using HandBack = std::function<void(const GenerationPointer &, const Status &)>;

  PrimeWorker(Open open, Counters &counters, bool is_device, HandBack hand_back);
  ~PrimeWorker();
  void stop();

  bool may_work() const { return !stopping_ && !failed_; }
  bool is_open() const { return open_ && may_work(); }
  Status status() const;
  DeviceService service() const;
  // Jobs that it has.
  size_t load() const { return load_; }
  // Opens the device, without waiting for it.
  void warm_up();
  // Takes a job; it leaves when it is over. False where it does not work.
  bool submit(const GenerationPointer &job);
  // What a job wants may have changed.
  void look();
  // One of its primes was none: it is used no more.
  void condemn();

 private:
  // A part of a search: the candidates of one job.
  struct Share {
    GenerationPointer job;
    size_t wanted, first, count;
  };

  void begin();
  void run();
  bool drop_jobs(std::unique_lock<std::mutex> &lock);
  std::vector<Share> choose();
  Status search(std::vector<Share> &shares);
  Status test_rounds(std::vector<Share> &shares, std::span<const uint32_t> trials,
                     std::span<uint8_t> passed);
  void fail(std::unique_lock<std::mutex> &lock, const Status &status);

  const Open open_tester_;
  Counters &counters_;
  const bool is_device_;
  const HandBack hand_back_;

  std::atomic<bool> stopping_{false}, failed_{false}, open_{false}, condemned_{false};
  std::atomic<size_t> load_{0};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Status status_;
  bool wanted_ = false, looks_ = false;
  std::list<GenerationPointer> jobs_;
  std::thread thread_;
  // Of a device, as an executor has it.
  std::optional<Opening> opening_;
  std::unique_ptr<PrimeTester> tester_;
  // How many primes should have been found since one was.
  double missed_ = 0;
};

}  // namespace lanecrypt::schedule
