// SPDX-License-Identifier: Apache-2.0
#include "primes/rsa_generator.h"

#include <algorithm>
#include <exception>
#include <new>
#include <string>

#include "cpu/core_count.h"
#include "cpu/rsa/prime_key.h"
#include "process/thread.h"
#include "rsa/rsa_kind.h"
#include "thread/signals.h"

namespace lanecrypt::runtime {
namespace {

constexpr size_t kMostTables = 16;

}  // namespace

RsaGenerator::RsaGenerator(Counters &cpu_counters, lc_fallback fallback, DeviceTrust trust,
                           size_t prime_pool, MakeTester make_tester)
    : fallback_(fallback),
      trust_(trust),
      make_tester_(std::move(make_tester)),
      pool_is_for_all_(prime_pool != 0),
      pool_(prime_pool != 0 ? prime_pool : PrimePool::most_by_environment()),
      cpu_(
          [] { return Result<std::unique_ptr<PrimeTester>>(make_cpu_primes(cpu::usable_cores())); },
          cpu_counters, false,
          [](const GenerationPointer &job, const Status &why) { job->fail(why); }) {}

void RsaGenerator::add_device(const device::Found &found, Counters &counters, bool is_selected) {
  workers_.push_back(std::make_unique<PrimeWorker>(
      [this, found] { return make_tester_(found, trust_); }, counters, true,
      [this](const GenerationPointer &job, const Status &why) { take_over(job, why); }));
  if (is_selected)
    selected_.push_back({workers_.back().get(), !found.properties.single_thread_subgroups});
}

void RsaGenerator::stop() {
  for (const std::unique_ptr<PrimeWorker> &worker : workers_) worker->stop();
  cpu_.stop();
  // Waits for the threads that make keys, whose jobs have just failed.
  for (unsigned left = makers_; left != 0; left = makers_) makers_.wait(left);
}

bool RsaGenerator::has_device_for_one() const {
  return std::any_of(selected_.begin(), selected_.end(),
                     [](const Selected &one) { return one.is_for_one; });
}

bool RsaGenerator::is_open_for_one() const {
  return std::any_of(selected_.begin(), selected_.end(),
                     [](const Selected &one) { return one.is_for_one && one.worker->is_open(); });
}

bool RsaGenerator::is_open() const {
  return std::any_of(selected_.begin(), selected_.end(),
                     [](const Selected &one) { return one.worker->is_open(); });
}

void RsaGenerator::warm_up_for_one() {
  if (PrimeWorker *worker = choose(true); worker != nullptr) worker->warm_up();
}

// Returns the sieve table. Jobs that can share a search share the table.
std::shared_ptr<const cpu::SieveTable> RsaGenerator::table_for(const RsaGeneration &what) {
  const uint32_t stride = cpu::prime_stride_bytes(what.bits / 2);
  const std::lock_guard lock(mutex_);
  for (const Table &known : tables_)
    if (known.table->stride_bytes == stride && known.exponent == what.exponent) return known.table;
  tables_.push_front({what.exponent, std::make_shared<const cpu::SieveTable>(
                                         cpu::make_sieve_table(stride, what.exponent))});
  if (tables_.size() > kMostTables) tables_.pop_back();
  return tables_.front().table;
}

// Returns the device in service with the least load; the first if several have the same load.
PrimeWorker *RsaGenerator::choose(bool for_one) const {
  PrimeWorker *best = nullptr;
  for (const auto &[candidate, is_for_one] : selected_)
    if (candidate->may_work() && (is_for_one || !for_one) &&
        (best == nullptr || candidate->load() < best->load()))
      best = candidate;
  return best;
}

Status RsaGenerator::nowhere(const PrimeWorker *named) const {
  std::string text = "no usable device";
  for (const Selected &one : selected_)
    if (named == nullptr) text += "; " + one.worker->status().text();
  if (named != nullptr) text += "; " + named->status().text();
  return Status(LC_ERROR_NO_DEVICE, std::move(text));
}

Status RsaGenerator::start_anywhere(const GenerationPointer &job) {
  const auto best = [&] {
    PrimeWorker *const for_one = job->job.count == 1 ? choose(true) : nullptr;
    return for_one != nullptr ? for_one : choose(false);
  };
  for (PrimeWorker *worker = best(); worker != nullptr; worker = best()) {
    if (fallback_ == LC_FALLBACK_CPU && !worker->is_open()) {
      // The CPU begins. The job moves to the device as soon as the device is open.
      worker->warm_up();
      job->awaited = worker;
      break;
    }
    if (worker->submit(job)) return Status();
  }
  if (fallback_ == LC_FALLBACK_NONE) return nowhere(nullptr);
  return start_on_cpu(job);
}

Status RsaGenerator::start_on_cpu(const GenerationPointer &job) {
  return cpu_.submit(job) ? Status() : process_ends();
}

Status RsaGenerator::start(const GenerationPointer &job) {
  const uint32_t device = job->job.device;
  const bool suits_devices = rsa_kind(job->job.bits) != 0;
  if (device != LC_ANY_DEVICE && device != LC_CPU) {
    if (device >= workers_.size())
      return Status(LC_ERROR_ARGUMENT, "there is no device " + std::to_string(device));
    PrimeWorker &worker = *workers_[device];
    if (suits_devices && worker.submit(job)) return Status();
    if (suits_devices && fallback_ == LC_FALLBACK_NONE) return nowhere(&worker);
  }
  if (device == LC_CPU) return start_on_cpu(job);
  if (suits_devices) return start_anywhere(job);
  if (fallback_ == LC_FALLBACK_NONE)
    return Status(LC_ERROR_UNSUPPORTED, "no device makes keys of that length");
  return start_on_cpu(job);
}

void RsaGenerator::take_over(const GenerationPointer &job, const Status &why) {
  job->count_failed_device();
  const bool stays = job->job.device != LC_ANY_DEVICE && fallback_ == LC_FALLBACK_NONE;
  try {
    if (stays || why.code() == LC_ERROR_MEMORY) {
      if (fallback_ == LC_FALLBACK_CPU && cpu_.submit(job)) return;
    } else if (start_anywhere(job).ok()) {
      return;
    }
  } catch (const std::exception &) {
    // Lack of memory or of threads: nobody has taken the job.
  }
  job->fail(why);
}

void RsaGenerator::make_keys(Generation &job) {
  PrimePair pair;
  while (job.next_pair(&pair)) {
    const auto bytes_of = [](const FoundPrime &prime) {
      return std::span<const uint8_t>(prime.number.data(), prime.number.size());
    };
    Result<cpu::MadeKey> made = cpu::MadeKey();
    try {
      made = cpu::make_rsa_key(job.random, job.job.bits, job.job.exponent, bytes_of(pair.first),
                               bytes_of(pair.second));
    } catch (const std::bad_alloc &) {
      made = Status(LC_ERROR_MEMORY, "no memory for the key");
    }
    const bool is_wrong = made.ok() && made->verdict == cpu::MadeKey::Verdict::kNotPrime;
    if (!made.ok()) job.fail(made.status());
    if (is_wrong && made->first_is_wrong && pair.first.by != nullptr) pair.first.by->condemn();
    if (is_wrong && made->second_is_wrong && pair.second.by != nullptr) pair.second.by->condemn();
    job.end_pair(made.ok() ? std::move(made->key) : nullptr, is_wrong);
    // The job may want two more primes now.
    job.stir();
    pair = {};
  }
}

// lc_options.prime_pool says which callers may share primes.
PrimePool *RsaGenerator::pool_for(const RsaGeneration &what) {
  const bool is_shared = pool_is_for_all_ || what.random == nullptr;
  return is_shared && what.device != LC_CPU ? &pool_ : nullptr;
}

void RsaGenerator::take_from_pool(Generation &job) {
  while (job.wanted() != 0) {
    std::optional<secure::KeyMemory> prime = pool_.take(job.kind());
    if (!prime || !job.take({std::move(*prime), nullptr})) return;
  }
}

Status RsaGenerator::run(RsaGeneration what, lc_result *result) {
  if (what.count == 0) return Status();
  const std::shared_ptr<const cpu::SieveTable> table = table_for(what);
  PrimePool *const pool = pool_for(what);
  const auto job = std::make_shared<Generation>(std::move(what), table, pool);
  if (pool != nullptr) take_from_pool(*job);
  LC_TRY(start(job));
  std::vector<std::thread> makers;
  const uint64_t count = std::min<uint64_t>(cpu::usable_cores(), job->job.count);
  Status status;
  try {
    makers.reserve(count);  // push_back() must not fail for a running thread
    {
      const SignalsBlocked blocked;
      for (uint64_t n = 0; n < count; ++n)
        makers.push_back(process::start_thread([&] {
          ++makers_;
          make_keys(*job);
          if (--makers_ == 0) makers_.notify_all();
        }));
    }
    status = job->deliver();
  } catch (...) {
    // No more threads could be started. Those that run must end before the job is freed.
    job->fail(Status(LC_ERROR_MEMORY, "no threads to make keys"));
    for (std::thread &maker : makers) maker.join();
    job->await_release();
    throw;
  }
  for (std::thread &maker : makers) maker.join();
  job->await_release();
  *result = job->result();
  return status;
}

}  // namespace lanecrypt::runtime
