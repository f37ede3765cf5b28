// A job that generates RSA keys: what is still to be found, and the primes and keys on their way
// from the workers that search, through the threads that make keys, to the caller.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "cpu/rsa/prime_candidates.h"
#include "job/rsa_generation.h"
#include "job/rsa_job.h"
#include "primes/prime_pool.h"
#include "secure/key_memory.h"

namespace lanecrypt::runtime {

class PrimeWorker;

// `FoundPrime` is a prime and the worker that found it.
struct FoundPrime {
  secure::KeyMemory number;
  PrimeWorker *by = nullptr;
};

struct PrimePair {
  FoundPrime first, second;
};

// `Generation` is the state of one job. The caller's thread, the threads that make keys and the
// worker that has the job share it. Thread-safe.
class Generation {
 public:
  // `pool` takes primes that are found in addition to those wanted. It may be nullptr.
  Generation(RsaGeneration what, std::shared_ptr<const cpu::SieveTable> sieve_table,
             PrimePool *pool = nullptr);
  PrimePool::Kind kind() const { return {prime_bits(), table}; }

  const RsaGeneration job;
  const std::shared_ptr<const cpu::SieveTable> table;
  const cpu::RandomBytes random;
  uint32_t prime_bits() const { return job.bits / 2; }

  // hold() is called by each worker that takes the job, release() when it gives the job up. Until
  // the caller's call returns, some worker must have the job.
  void hold(PrimeWorker *worker);
  void release();
  // The worker to which the job moves as soon as that worker is open.
  PrimeWorker *awaited = nullptr;
  // Returns how many primes the job can use now, and 0 if enough keys are on their way.
  size_t wanted();
  // Returns how many more primes the pool would keep for later keys.
  size_t room_in_pool() const { return pool_ == nullptr ? 0 : pool_->room(); }
  // Takes a prime. Returns false if the job wants no more and the pool does not keep it.
  bool take(FoundPrime prime);
  void count_tests(uint64_t candidates, uint64_t tests, bool on_device);
  void count_failed_device();
  void fail(const Status &status);
  bool is_over();
  // The expected number of primes among the candidates of the caller's own random generator since
  // the last one was found.
  double missed = 0;

  // Waits for a pair of primes. Returns false when the job is over.
  bool next_pair(PrimePair *pair);
  // Reports the key that was made of a pair. If `key` is nullptr, both primes are discarded.
  void end_pair(RsaKeyPointer key, bool was_wrong);

  // Calls the caller's callbacks with keys and progress, until all keys are made or the job fails.
  Status deliver();
  // Wakes the worker to check what is wanted now.
  void stir();
  // Waits until no worker has the job.
  void await_release();
  lc_result result();

 private:
  // The most pairs and keys that may be queued.
  static constexpr size_t kMostOnTheirWay = 2048;
  // If the caller's own random generator leads to this many wrong primes, it is not random.
  static constexpr uint64_t kMostWrongPairs = 16;
  bool ended() const { return given_ == job.count || !failure_.ok(); }

  PrimePool *const pool_;
  std::mutex mutex_;
  std::condition_variable changed_;
  PrimeWorker *worker_ = nullptr;
  int holders_ = 0;
  std::deque<FoundPrime> primes_;
  std::deque<PrimePair> pairs_;
  std::deque<RsaKeyPointer> keys_;
  uint64_t given_ = 0, in_making_ = 0;
  lc_rsa_progress progress_ = {};
  bool has_news_ = false;
  lc_result result_ = {};
  Status failure_;
};

using GenerationPointer = std::shared_ptr<Generation>;

}  // namespace lanecrypt::runtime
