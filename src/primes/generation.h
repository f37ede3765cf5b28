// A job that makes RSA keys: what is left to find, and the primes and keys on their way from
// the workers that find primes, by the threads that make keys, to the caller.
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

// A prime, and who found it.
struct FoundPrime {
  secure::KeyMemory number;
  PrimeWorker *by = nullptr;
};

struct PrimePair {
  FoundPrime first, second;
};

// The caller's thread, the threads that make keys and the worker that has the job share it.
class Generation {
 public:
  // pool: takes primes that are found beyond those that are wanted. May be nullptr.
  Generation(RsaGeneration what, std::shared_ptr<const cpu::SieveTable> sieve_table,
             PrimePool *pool = nullptr);
  PrimePool::Kind kind() const { return {prime_bits(), table}; }

  const RsaGeneration job;
  const std::shared_ptr<const cpu::SieveTable> table;
  const cpu::RandomBytes random;
  uint32_t prime_bits() const { return job.bits / 2; }

  // ---- The worker ----
  // Called by each worker that takes the job, or lets it go. Until the caller's call ends,
  // some worker must have it.
  void hold(PrimeWorker *worker);
  void release();
  // The worker to which the job goes as soon as that is open.
  PrimeWorker *awaited = nullptr;
  // How many primes are of use now. 0 if enough keys are on their way.
  size_t wanted();
  // How many more primes would be kept for later keys.
  size_t room_in_pool() const { return pool_ == nullptr ? 0 : pool_->room(); }
  // False if the job wants no more primes, and none is kept.
  bool take(FoundPrime prime);
  void count_tests(uint64_t candidates, uint64_t tests, bool on_device);
  void count_failed_device();
  void fail(const Status &status);
  bool is_over();
  // How many primes should have been found among candidates of the caller's own random generator
  // since the last one was.
  double missed = 0;

  // ---- The makers of keys ----
  // Waits for a pair. False at the end.
  bool next_pair(PrimePair *pair);
  // Hands in the key that was made of a pair. nullptr: both primes are lost.
  void end_pair(RsaKeyPointer key, bool was_wrong);

  // ---- The caller's thread ----
  // Gives keys and progress to the caller, until all keys are made or the job failed.
  Status deliver();
  // Makes the worker look at what is wanted now.
  void stir();
  // Waits until no worker has the job.
  void await_release();
  lc_result result();

 private:
  // How many pairs and keys may wait for who takes them next.
  static constexpr size_t kMostOnTheirWay = 2048;
  // With the caller's own random generator, so many wrong primes say that it is not random.
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
