// Searches for primes on one device, or on the CPU, for all jobs that generate keys there. One
// launch searches for all jobs together.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "batch/device_thread.h"
#include "batch/failure.h"
#include "primes/generation.h"
#include "primes/prime_tester.h"

namespace lanecrypt::runtime {

// `PrimeWorker` searches for primes. Thread-safe. The tester is made, used and destroyed on the
// worker's thread, which the first call that needs it starts.
class PrimeWorker : public DeviceThread {
 public:
  using Open = std::function<Result<std::unique_ptr<PrimeTester>>()>;
  // Called on the worker's thread with a job that this worker cannot finish, and the reason.
  using HandBack = std::function<void(const GenerationPointer &, const Status &)>;

  PrimeWorker(Open open, Counters &counters, bool is_device, HandBack hand_back);
  ~PrimeWorker() override { stop(); }
  void stop() { end(); }

  // Returns the number of jobs that the worker has.
  size_t load() const { return load_; }
  // Takes a job, and keeps it until the job is over. Returns false if the worker is out of service.
  bool submit(const GenerationPointer &job);
  // Wakes the worker, because a job may want more or fewer primes now.
  void look();
  // Reports that a number of this worker was not prime. The worker is out of service unless it
  // passes its self-test.
  void condemn();

 private:
  // The candidates of one job in a search.
  struct Share {
    GenerationPointer job;
    size_t wanted, first, count;
  };

  Status open() override;
  bool has_work() const override { return looks_ && !stopping_; }
  void serve(std::unique_lock<std::mutex> &lock) override;
  void fail(std::unique_lock<std::mutex> &lock, const Status &status) override;
  void close() override;
  bool proves_itself(std::unique_lock<std::mutex> &lock, const Status &otherwise);
  bool drop_jobs(std::unique_lock<std::mutex> &lock);
  void hand_back(std::unique_lock<std::mutex> &lock, const GenerationPointer &job,
                 const Status &why);
  std::vector<Share> choose();
  Status search(std::vector<Share> &shares);
  Status test_rounds(std::vector<Share> &shares, std::span<const uint32_t> trials,
                     std::span<uint8_t> passed);

  const Open open_tester_;
  const HandBack hand_back_;

  std::atomic<bool> condemned_{false};
  std::atomic<size_t> load_{0};
  bool looks_ = false;
  std::list<GenerationPointer> jobs_;
  std::unique_ptr<PrimeTester> tester_;
  // The expected number of primes among the candidates of the library's own random generator since
  // the last one was found.
  double missed_ = 0;
};

}  // namespace lanecrypt::runtime
