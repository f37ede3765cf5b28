// SPDX-License-Identifier: Apache-2.0
#include "primes/prime_worker.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <numbers>

namespace lanecrypt::runtime {
namespace {

// The most bytes of the candidates of one search.
constexpr size_t kMostCandidateBytes = 64 << 20;
// A device is considered faulty if it finds no prime where this many are expected by the density of
// primes. For a working device the probability of that is e^-60.
constexpr double kMostMissed = 60;

// Returns how many survivors of the sieve are tested for each prime, on average: of bits * ln 2 odd
// numbers of `bits` bits, about 2 are prime.
double trials_for_a_prime(const cpu::SieveTable &table, uint32_t bits) {
  return std::max(table.survivors * bits * std::numbers::ln2 / 2, 1.0);
}

}  // namespace

PrimeWorker::PrimeWorker(Open open, Counters &counters, bool is_device, HandBack hand_back)
    : DeviceThread(counters, is_device),
      open_tester_(std::move(open)),
      hand_back_(std::move(hand_back)) {}

bool PrimeWorker::submit(const GenerationPointer &job) {
  const std::lock_guard lock(mutex_);
  if (!may_work()) return false;
  begin();
  jobs_.push_back(job);
  job->hold(this);
  load_ = jobs_.size();
  looks_ = true;
  changed_.notify_all();
  return true;
}

void PrimeWorker::look() {
  const std::lock_guard lock(mutex_);
  looks_ = true;
  changed_.notify_all();
}

void PrimeWorker::condemn() {
  // There is no fallback for the CPU.
  if (!is_device_) return;
  condemned_ = true;
  look();
}

// ---- The worker's thread ---------------------------------------------------

Status PrimeWorker::open() {
  Result<std::unique_ptr<PrimeTester>> tester = open_tester_();
  if (!tester.ok()) return tester.status();
  tester_ = std::move(*tester);
  return Status();
}

void PrimeWorker::serve(std::unique_lock<std::mutex> &lock) {
  looks_ = false;
  while (!stopping_) {
    if (condemned_.exchange(false) &&
        !proves_itself(lock,
                       Status(LC_ERROR_DEVICE, "the device called a number prime that is none")))
      break;
    if (drop_jobs(lock)) continue;
    std::vector<Share> shares;
    Status status;
    try {
      shares = choose();
      if (shares.empty()) break;
      lock.unlock();
      status = search(shares);
    } catch (const std::exception &error) {  // lack of memory or of threads
      status = status_of(LC_ERROR_MEMORY, error.what());
    }
    if (!lock.owns_lock()) lock.lock();
    if (status.ok() && is_device_ && missed_ > kMostMissed) {
      missed_ = 0;
      if (!proves_itself(
              lock, Status(LC_ERROR_DEVICE, "the device finds no primes where there are many")))
        break;
    }
    if (status.ok()) continue;
    if (status.code() != LC_ERROR_MEMORY && is_device_) {
      fail(lock, status);
      break;
    }
    // A lack of memory is temporary, and the CPU stays in service.
    if (shares.empty()) hand_back(lock, GenerationPointer(jobs_.front()), status);
    for (const Share &share : shares) hand_back(lock, share.job, status);
  }
}

void PrimeWorker::hand_back(std::unique_lock<std::mutex> &lock, const GenerationPointer &job,
                            const Status &why) {
  jobs_.remove(job);
  load_ = jobs_.size();
  lock.unlock();
  hand_back_(job, why);
  job->release();
  lock.lock();
}

// Runs the self-test again after a fault that only the device, or its input, can have caused. If
// the self-test fails too, the worker goes out of service, with the reason `otherwise`.
bool PrimeWorker::proves_itself(std::unique_lock<std::mutex> &lock, const Status &otherwise) {
  lock.unlock();
  Failure failure;
  try {
    failure = Failure::of_self_test(tester_->prove());
  } catch (const std::exception &error) {
    failure = Failure::of_memory(error);
  }
  lock.lock();
  if (failure.is_of(FailureOf::kDevice)) {
    fail(lock, otherwise);
    return false;
  }
  ++counters_.failures;
  return true;
}

void PrimeWorker::close() {
  if (stopping_) {
    // If exit() stops the worker, callers may still wait for these jobs.
    const std::lock_guard lock(mutex_);
    for (const GenerationPointer &job : jobs_) {
      job->fail(process_ends());
      job->release();
    }
    jobs_.clear();
  }
  close_engine(std::move(tester_));
}

// Releases jobs that are over, and passes on jobs that waited for another worker. Returns true if
// the lock was released in between.
bool PrimeWorker::drop_jobs(std::unique_lock<std::mutex> &lock) {
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    const GenerationPointer job = *at;
    PrimeWorker *const next = job->awaited;
    if (next != nullptr && next->is_open()) {
      std::list<GenerationPointer> one;
      one.splice(one.end(), jobs_, at);
      load_ = jobs_.size();
      lock.unlock();
      job->awaited = nullptr;
      bool is_taken = false;
      try {
        is_taken = next->submit(job);
      } catch (const std::exception &) {
        // Lack of memory: this worker keeps the job.
      }
      if (is_taken) job->release();
      lock.lock();
      if (!is_taken) jobs_.splice(jobs_.end(), one);
      load_ = jobs_.size();
      return true;
    }
    if (!job->is_over()) {
      ++at;
      continue;
    }
    at = jobs_.erase(at);
    job->release();
  }
  load_ = jobs_.size();
  return false;
}

// Chooses the job that has waited longest, and all others with the same table and length.
std::vector<PrimeWorker::Share> PrimeWorker::choose() {
  std::vector<Share> shares;
  size_t wanted = 0;
  for (const GenerationPointer &job : jobs_) {
    if (!shares.empty() && job->table != shares.front().job->table) continue;
    if (!shares.empty() && job->job.bits != shares.front().job->job.bits) continue;
    const size_t of_job = job->wanted();
    if (of_job == 0) continue;
    shares.push_back({job, of_job, 0, 0});
    wanted += of_job;
  }
  if (shares.empty()) return shares;
  // A device has spare threads for primes of later keys. On the CPU the caller would have to wait
  // for them.
  if (const size_t more = is_device_ ? shares.front().job->room_in_pool() : 0; more != 0) {
    shares.front().wanted += more;
    wanted += more;
  }
  // The next search begins with another job.
  jobs_.splice(jobs_.end(), jobs_, std::find(jobs_.begin(), jobs_.end(), shares.front().job));

  const cpu::SieveTable &table = *shares.front().job->table;
  const uint32_t bits = shares.front().job->prime_bits();
  const double each = trials_for_a_prime(table, bits), primes = static_cast<double>(wanted);
  // As many trials as are needed for one search usually to find all primes.
  const double trials = std::min(each * (1.1 * primes + 3 * std::sqrt(primes)),
                                 static_cast<double>(tester_->most_trials(bits)));
  const size_t candidates = std::min(static_cast<size_t>(trials / table.survivors) + 1,
                                     kMostCandidateBytes / table.stride_bytes);
  size_t first = 0;
  for (Share &share : shares) {
    share.first = first;
    share.count = std::max<size_t>(candidates * share.wanted / wanted, 1);
    first += share.count;
  }
  return shares;
}

// Runs one round of the test for each trial, with a base from the random generator of its job.
// Trials are in the order of their candidates.
Status PrimeWorker::test_rounds(std::vector<Share> &shares, std::span<const uint32_t> trials,
                                std::span<uint8_t> passed) {
  const cpu::SieveTable &table = *shares.front().job->table;
  const uint32_t bits = shares.front().job->prime_bits();
  size_t first = 0;
  for (Share &share : shares) {
    const size_t end = share.first + share.count;
    size_t last = first;
    while (last < trials.size() && trials[last] < end) ++last;
    const Status drawn = cpu::draw_bases(
        share.job->random, bits, tester_->candidates(), trials.subspan(first, last - first),
        tester_->bases().subspan(first * table.stride_bytes, (last - first) * table.stride_bytes));
    if (!drawn.ok()) {
      share.job->fail(drawn);
      memset(tester_->bases().data() + first * table.stride_bytes, 0,
             (last - first) * table.stride_bytes);
    }
    share.job->count_tests(0, last - first, is_device_);
    first = last;
  }
  const Status status = tester_->test(bits, trials, passed);
  if (status.ok()) {
    counters_.operations += trials.size();
    counters_.bytes += trials.size() * ((bits + 7) / 8);
  }
  return status;
}

Status PrimeWorker::search(std::vector<Share> &shares) {
  const std::shared_ptr<const cpu::SieveTable> table = shares.front().job->table;
  const uint32_t bits = shares.front().job->prime_bits(), stride = table->stride_bytes;
  const uint32_t rounds = cpu::miller_rabin_rounds(2 * bits);
  const size_t count = shares.back().first + shares.back().count;
  LC_TRY(tester_->reserve(bits, count, 0));
  for (Share &share : shares) {
    const Status drawn = cpu::draw_candidates(
        share.job->random, bits,
        tester_->candidates().subspan(share.first * stride, share.count * stride));
    // The job fails. Its candidates then have any values, and their results are not used.
    if (!drawn.ok()) share.job->fail(drawn);
    share.job->count_tests(share.count, 0, is_device_);
  }
  std::vector<uint8_t> survives(count);
  Status status = tester_->sieve(table, count, survives);
  std::vector<uint32_t> trials;
  for (uint32_t n = 0; n < count; ++n)
    if (survives[n] != 0) trials.push_back(n);
  const auto test = [&](std::vector<uint8_t> *passed) {
    passed->assign(trials.size(), 0);
    if (trials.empty()) return Status();
    LC_TRY(tester_->reserve(bits, 0, trials.size()));
    return test_rounds(shares, trials, *passed);
  };
  std::vector<uint8_t> passed;
  if (status.ok()) status = test(&passed);
  // Runs all other rounds at once, for the few candidates that passed the first.
  std::vector<uint32_t> rest;
  for (size_t n = 0; status.ok() && n < trials.size(); ++n)
    if (passed[n] != 0) rest.insert(rest.end(), rounds - 1, trials[n]);
  trials = std::move(rest);
  if (status.ok()) status = test(&passed);
  counters_.launches += tester_->take_launches();

  // Adds the expected number of primes of each share, unless its random generator has failed. The
  // caller's own generator may return anything, so what is missed there is not the device's fault.
  const double each = table->survivors / trials_for_a_prime(*table, bits);
  for (const Share &one : shares) {
    if (one.job->is_over()) continue;
    double &missed = one.job->job.random == nullptr ? missed_ : one.job->missed;
    missed += double(one.count) * each;
  }
  auto share = shares.begin();
  for (size_t n = 0; status.ok() && n < trials.size(); n += rounds - 1) {
    if (std::count(passed.begin() + ptrdiff_t(n), passed.begin() + ptrdiff_t(n + rounds - 1), 0) !=
        0)
      continue;
    while (trials[n] >= share->first + share->count) ++share;
    FoundPrime found = {secure::KeyMemory(stride), this};
    if (!found.number.ok(stride)) {
      status = Status(LC_ERROR_MEMORY, "no memory for a prime");
      break;
    }
    (share->job->job.random == nullptr ? missed_ : share->job->missed) = 0;
    memcpy(found.number.data(), tester_->candidates().data() + size_t{trials[n]} * stride, stride);
    (void)share->job->take(std::move(found));
  }
  tester_->forget();
  for (const Share &one : shares)
    if (one.job->missed > kMostMissed)
      one.job->fail(Status(LC_ERROR_INTERNAL,
                           "there is no prime among the numbers of the caller's random generator"));
  return status;
}

// Ends all searches of this worker and returns its jobs through hand_back_.
void PrimeWorker::fail(std::unique_lock<std::mutex> &lock, const Status &status) {
  note_failure(status);
  std::list<GenerationPointer> jobs = std::move(jobs_);
  jobs_.clear();
  load_ = 0;
  lock.unlock();
  for (const GenerationPointer &job : jobs) {
    if (!job->is_over()) hand_back_(job, status);
    job->release();
  }
  lock.lock();
}

}  // namespace lanecrypt::runtime
