// SPDX-License-Identifier: Apache-2.0
#include "primes/generation.h"

#include <algorithm>

#include "cpu/random.h"
#include "primes/prime_worker.h"

namespace lanecrypt::runtime {
namespace {

cpu::RandomBytes random_of(const RsaGeneration &job) {
  if (job.random == nullptr) return cpu::random_bytes;
  return [give = job.random, argument = job.argument](void *to, size_t bytes) {
    return give(argument, to, bytes) == 1
               ? Status()
               : Status(LC_ERROR_INTERNAL, "the caller's random generator failed");
  };
}

lc_rsa_parts parts_of(const RsaKey &key) {
  const auto number = [](std::span<const uint8_t> bytes) {
    return lc_number{bytes.data(), bytes.size()};
  };
  lc_rsa_parts parts = {};
  parts.struct_size = sizeof parts;
  parts.n = number(key.numbers.n);
  parts.e = number(key.numbers.e);
  parts.p = number(key.numbers.p);
  parts.q = number(key.numbers.q);
  parts.dp = number(key.numbers.dp);
  parts.dq = number(key.numbers.dq);
  parts.qinv = number(key.numbers.qinv);
  parts.d = number(key.numbers.d);
  return parts;
}

}  // namespace

Generation::Generation(RsaGeneration what, std::shared_ptr<const cpu::SieveTable> sieve_table,
                       PrimePool *pool)
    : job(std::move(what)), table(std::move(sieve_table)), random(random_of(job)), pool_(pool) {
  progress_.struct_size = sizeof progress_;
}

void Generation::hold(PrimeWorker *worker) {
  const std::lock_guard lock(mutex_);
  worker_ = worker;
  ++holders_;
}

void Generation::release() {
  const std::lock_guard lock(mutex_);
  --holders_;
  changed_.notify_all();
}

void Generation::stir() {
  PrimeWorker *worker = nullptr;
  {
    const std::lock_guard lock(mutex_);
    worker = worker_;
  }
  if (worker != nullptr) worker->look();
}

void Generation::await_release() {
  stir();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return holders_ == 0; });
}

size_t Generation::wanted() {
  const std::lock_guard lock(mutex_);
  if (ended()) return 0;
  const uint64_t on_their_way = pairs_.size() + in_making_ + keys_.size();
  const uint64_t left = job.count - given_ - on_their_way;
  const uint64_t room = kMostOnTheirWay - std::min<uint64_t>(on_their_way, kMostOnTheirWay);
  const uint64_t primes = 2 * std::min(left, room);
  return primes - std::min<uint64_t>(primes, primes_.size());
}

bool Generation::take(FoundPrime prime) {
  const std::lock_guard lock(mutex_);
  // If the job failed, its numbers may not be random, so no prime is kept.
  if (!failure_.ok()) return false;
  const uint64_t on_their_way = pairs_.size() + in_making_ + keys_.size();
  if (ended() || 2 * (job.count - given_ - on_their_way) <= primes_.size())
    return pool_ != nullptr && pool_->put(kind(), std::move(prime.number));
  primes_.push_back(std::move(prime));
  ++progress_.primes;
  if (primes_.size() >= 2) {
    PrimePair pair = {std::move(primes_[0]), std::move(primes_[1])};
    primes_.erase(primes_.begin(), primes_.begin() + 2);
    pairs_.push_back(std::move(pair));
  }
  changed_.notify_all();
  return true;
}

void Generation::count_tests(uint64_t candidates, uint64_t tests, bool on_device) {
  const std::lock_guard lock(mutex_);
  progress_.candidates += candidates;
  progress_.tests += tests;
  has_news_ = true;
  (on_device ? result_.device_operations : result_.cpu_operations) += tests;
  const uint64_t bytes = tests * ((prime_bits() + 7) / 8);
  (on_device ? result_.device_bytes : result_.cpu_bytes) += bytes;
  changed_.notify_all();
}

void Generation::count_failed_device() {
  const std::lock_guard lock(mutex_);
  ++result_.failed_devices;
}

void Generation::fail(const Status &status) {
  const std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = status;
  changed_.notify_all();
}

bool Generation::is_over() {
  const std::lock_guard lock(mutex_);
  return ended();
}

bool Generation::next_pair(PrimePair *pair) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ended() || !pairs_.empty(); });
  if (ended()) return false;
  *pair = std::move(pairs_.front());
  pairs_.pop_front();
  ++in_making_;
  return true;
}

void Generation::end_pair(RsaKeyPointer key, bool was_wrong) {
  const std::lock_guard lock(mutex_);
  --in_making_;
  if (was_wrong) ++result_.failed_checks;
  if (job.random != nullptr && result_.failed_checks >= kMostWrongPairs && failure_.ok())
    failure_ = Status(LC_ERROR_INTERNAL, "the caller's random generator gives no random numbers");
  if (key != nullptr) {
    keys_.push_back(std::move(key));
    ++progress_.keys;
    has_news_ = true;
  }
  changed_.notify_all();
}

Status Generation::deliver() {
  std::unique_lock lock(mutex_);
  while (!ended()) {
    changed_.wait(lock, [&] { return ended() || !keys_.empty() || has_news_; });
    if (!failure_.ok()) break;
    int goes_on = 1;
    if (has_news_) {
      has_news_ = false;
      const lc_rsa_progress progress = progress_;
      lock.unlock();
      if (job.on_progress != nullptr) goes_on = job.on_progress(job.argument, &progress);
      lock.lock();
    }
    while (goes_on != 0 && !keys_.empty() && failure_.ok()) {
      const RsaKeyPointer key = std::move(keys_.front());
      keys_.pop_front();
      const uint64_t number = given_++;
      lock.unlock();
      const lc_rsa_parts parts = parts_of(*key);
      goes_on = job.on_key(job.argument, number, &parts);
      // There is space for another key now.
      stir();
      lock.lock();
    }
    if (goes_on == 0 && failure_.ok()) failure_ = Status(LC_ERROR_STOPPED, "stopped by the caller");
  }
  changed_.notify_all();
  const Status status = failure_;
  if (status.ok() && has_news_ && job.on_progress != nullptr) {
    const lc_rsa_progress progress = progress_;
    lock.unlock();
    (void)job.on_progress(job.argument, &progress);
  }
  return status;
}

lc_result Generation::result() {
  const std::lock_guard lock(mutex_);
  return result_;
}

}  // namespace lanecrypt::runtime
