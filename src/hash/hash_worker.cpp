// SPDX-License-Identifier: Apache-2.0
#include "hash/hash_worker.h"

#include <algorithm>
#include <exception>
#include <new>

#include "cpu/hash/cpu_hash.h"
#include "thread/stuck.h"
#include "verify/hash_known_answers.h"
#include "verify/self_test.h"

namespace lanecrypt::runtime {
namespace {

// How long the worker sleeps between polls of jobs in streams, for which no other thread waits.
constexpr std::chrono::microseconds kLook{50};
// The most jobs in streams that may be in flight at once.
constexpr size_t kMostUnderWay = 256;
// The least rates, in bytes per second, of one message and of all messages, by which the time limit
// is extended.
constexpr uint64_t kLeastRate = 2 << 20, kLeastRateOfAll = 50 << 20;

HostHashesOptions options_of(const device::Found &found, const DeviceTrust &trust,
                             uint64_t pinned_bytes) {
  constexpr uint64_t kLeast = HashLaunch::kMostAlone, kMost = 16 << 20;
  HostHashesOptions options;
  options.verify = trust.verify;
  options.chunk_bytes =
      pinned_bytes == 0 ? kMost : std::clamp(pinned_bytes / 4, kLeast, kMost) / 4096 * 4096;
  options.time_limit =
      trust.time_limit.count() != 0 ? trust.time_limit : default_time_limit(found.properties);
  return options;
}

}  // namespace

HashWorker::HashWorker(device::Found found, Counters &counters, const DeviceTrust &trust,
                       uint64_t pinned_bytes, Workers &workers, HandBack hand_back)
    : DeviceThread(counters, true),
      found_(std::move(found)),
      trust_(trust),
      options_(options_of(found_, trust, pinned_bytes)),
      workers_(workers),
      hand_back_(std::move(hand_back)) {}

bool HashWorker::submit(const HashRequestPointer &request) {
  const std::lock_guard lock(mutex_);
  if (!may_work()) return false;
  begin();
  arrived_.push_back(request);
  load_bytes_ += request->job.bytes;
  changed_.notify_all();
  return true;
}

void HashWorker::cancel_pending() {
  const std::lock_guard lock(mutex_);
  cancels_pending_ = true;
  changed_.notify_all();
}

// ---- The worker's thread ---------------------------------------------------

Status HashWorker::open() {
  if (!found_.properties.unusable.empty())
    return told(Status(LC_ERROR_NO_DEVICE, found_.properties.unusable));
  Result<std::unique_ptr<device::Device>> device = found_.open(device::KernelSet::kHash);
  if (!device.ok()) return told(device.status());
  device_ = std::move(*device);
  launch_ = std::make_unique<HashLaunch>(*device_);
  host_ = std::make_unique<HostHashes>(*device_, *launch_, workers_, options_);
  Status status = host_->open();
  if (status.ok() && !trust_.skip_self_test) status = self_test();
  if (!status.ok()) return told(status);
  self_test_launches_ = launch_->launches();
  device_->begin_service();
  return Status();
}

// Runs the known answers in the same way as every job.
Status HashWorker::self_test() {
  return verify::self_test(
      verify::hash_known_answers(), [&](const verify::HashKnownAnswer &answer) -> Result<bool> {
        const std::vector<uint8_t> message = answer.message();
        const std::vector<uint8_t> right = answer.digest();
        std::vector<uint8_t> digests(answer.copies * right.size());
        std::vector<lc_hash_message> all;
        for (size_t n = 0; n < answer.copies; ++n)
          all.push_back({message.data(), message.size(), &digests[n * right.size()]});
        Result<HashJob> job = answer.job(all);
        if (!job.ok()) return job.status();
        LC_TRY(cpu::prepare_hash(&job->spec));
        if (const Failure failure = host_->run(*job); !failure.ok()) return failure.status();
        for (size_t n = 0; n < answer.copies; ++n)
          if (!std::equal(right.begin(), right.end(), &digests[n * right.size()])) return false;
        return true;
      });
}

void HashWorker::serve(std::unique_lock<std::mutex> &lock) {
  while (has_work()) {
    HashRequestPointer request;
    if (!arrived_.empty() && under_way_.size() < kMostUnderWay) {
      request = arrived_.front();
      arrived_.pop_front();
    }
    lock.unlock();
    Failure failure;
    try {
      failure = retire_over();
      if (request != nullptr && cancels_pending_)
        leave(request, Failure::of_item(process_ends()));
      else if (request != nullptr && !failure.is_of(FailureOf::kDevice))
        failure = request->job.memory == LC_MEMORY_DEVICE ? start_on_device(request)
                                                          : run_on_host_memory(request);
      else if (request != nullptr)
        leave(request, failure);
      else if (failure.ok())
        std::this_thread::sleep_for(kLook);
    } catch (const std::exception &error) {  // lack of memory
      failure = Failure::of_memory(error);
      if (request != nullptr) leave(request, failure);
    }
    lock.lock();
    if (!failure.is_of(FailureOf::kDevice)) continue;
    fail(lock, told(failure.status()));
    return;
  }
}

void HashWorker::count(HashRequest &request) {
  ++counters_.jobs;
  counters_.bytes += request.job.bytes;
  counters_.operations += request.job.messages.size();
  request.result.device_bytes = request.job.bytes;
  request.result.device_operations = request.job.messages.size();
}

// The worker is done with the job. The job completes, or goes to another device or the CPU.
void HashWorker::leave(const HashRequestPointer &request, const Failure &failure) {
  load_bytes_ -= request->job.bytes;
  counters_.launches += launch_ == nullptr ? 0 : launch_->launches() - self_test_launches_;
  if (launch_ != nullptr) self_test_launches_ = launch_->launches();
  if (failure.ok()) {
    count(*request);
    request->end();
  } else if (failure.is_of(FailureOf::kItem)) {
    request->end(told(failure.status()));
  } else {
    hand_back_(request, told(failure.status()));
  }
}

// Returns `status` with the device's id, unless it says that the process ends.
Status HashWorker::told(const Status &status) const noexcept {
  try {
    return status.code() == LC_ERROR_STOPPED ? status : with_device_id(found_.properties, status);
  } catch (const std::exception &) {  // want of memory
    return status;
  }
}

Failure HashWorker::run_on_host_memory(const HashRequestPointer &request) {
  const Failure failure = host_->run(request->job);
  is_stuck_ = is_stuck_ || host_->is_stuck();
  leave(request, failure);
  return failure;
}

// Returns a list with one element. Moving it to another list needs no memory.
std::list<std::unique_ptr<DeviceHashes>> HashWorker::take_flight() {
  std::list<std::unique_ptr<DeviceHashes>> one;
  if (free_.empty())
    one.push_back(std::make_unique<DeviceHashes>());
  else
    one.splice(one.end(), free_, free_.begin());
  return one;
}

Status HashWorker::begin_flight(DeviceHashes &flight) {
  const HashJob &job = flight.request->job;
  Result<std::unique_ptr<device::Stream>> stream =
      job.stream != nullptr ? device_->adopt_stream(job.stream) : device_->make_stream();
  if (!stream.ok()) return stream.status();
  flight.stream = std::move(*stream);
  if (flight.done == nullptr) {
    Result<std::unique_ptr<device::Event>> done = device_->make_event();
    if (!done.ok()) return done.status();
    flight.done = std::move(*done);
  }
  return start_hashes(*device_, *launch_, flight);
}

Failure HashWorker::start_on_device(const HashRequestPointer &request) {
  std::list<std::unique_ptr<DeviceHashes>> one = take_flight();
  DeviceHashes *const flight = one.front().get();
  flight->request = request;
  flight->values_at.clear();
  flight->started = Clock::now();
  const Status status = guarded([&] { return begin_flight(*flight); });
  if (!status.ok()) {
    // With these codes a device reports a stream or memory that is not its own.
    const bool is_jobs =
        status.code() == LC_ERROR_ARGUMENT || status.code() == LC_ERROR_UNSUPPORTED;
    const Failure failure = is_jobs ? Failure::of_item(status) : Failure::of_device(status);
    wipe_hashes(*flight);
    flight->stream.reset();
    request->set_enqueued(failure.status());
    free_.splice(free_.end(), one);
    leave(request, failure);
    return failure;
  }
  request->set_enqueued(Status());
  const std::lock_guard lock(mutex_);
  under_way_.splice(under_way_.end(), one);
  return Failure();
}

bool HashWorker::is_overdue(const DeviceHashes &flight) const {
  // A caller's stream may wait for work of the caller, so it has no time limit.
  if (flight.request->job.stream != nullptr) return false;
  const HashJob &job = flight.request->job;
  const std::chrono::seconds more(job.longest / kLeastRate + job.bytes / kLeastRateOfAll);
  return Clock::now() - flight.started > options_.time_limit + more;
}

Failure HashWorker::retire(DeviceHashes &flight) {
  Failure failure;
  try {
    failure = Failure::of_device(flight.done->wait());
    // The part of the job that the CPU does.
    if (failure.ok()) failure = Failure::of_item(finish_hashes(flight));
  } catch (const std::exception &error) {  // lack of memory
    failure = Failure::of_memory(error);
  }
  wipe_hashes(flight);
  leave(flight.request, failure);
  flight.request.reset();
  flight.stream.reset();
  flight.in_view.reset();
  flight.out_view.reset();
  return failure;
}

// Completes the jobs whose streams have finished. Returns a device's failure.
Failure HashWorker::retire_over() {
  for (auto at = under_way_.begin(); at != under_way_.end();) {
    DeviceHashes &flight = **at;
    if (is_overdue(flight) && !flight.done->reached()) {
      is_stuck_ = true;
      return Failure::of_device(stuck_status(options_.time_limit));
    }
    if (!flight.done->reached()) {
      ++at;
      continue;
    }
    const Failure failure = retire(flight);
    const std::lock_guard lock(mutex_);
    free_.splice(free_.end(), under_way_, at++);
    if (failure.is_of(FailureOf::kDevice)) return failure;
  }
  if (under_way_.empty() && launch_ != nullptr) launch_->memory().free_outgrown();
  return Failure();
}

void HashWorker::fail(std::unique_lock<std::mutex> &lock, const Status &status) {
  note_failure(status);
  const auto hand_back = [&](const HashRequestPointer &request) {
    load_bytes_ -= request->job.bytes;
    hand_back_(request, status);
  };
  for (; !arrived_.empty(); lock.lock()) {  // nothing more arrives
    const HashRequestPointer request = arrived_.front();
    arrived_.pop_front();
    lock.unlock();
    hand_back(request);
  }
  lock.unlock();
  for (const std::unique_ptr<DeviceHashes> &flight : under_way_) {
    // The device is lost: its streams complete nothing any more.
    is_stuck_ = is_stuck_ || !flight->done->reached();
    hand_back(flight->request);
  }
  lock.lock();
  if (!is_stuck_) under_way_.clear();
}

void HashWorker::close() {
  struct Kept {
    std::list<std::unique_ptr<DeviceHashes>> under_way, free;
    std::unique_ptr<HostHashes> host;
    std::unique_ptr<HashLaunch> launch;
    std::unique_ptr<device::Device> device;
  };
  if (is_stuck_) {
    std::unique_ptr<Kept> kept(new (std::nothrow)
                                   Kept{std::move(under_way_), std::move(free_), std::move(host_),
                                        std::move(launch_), std::move(device_)});
    if (kept != nullptr) {
      keep_for_ever(std::move(kept));
    } else {  // no memory: nobody frees them
      for (auto *flights : {&under_way_, &free_})
        for (std::unique_ptr<DeviceHashes> &flight : *flights) (void)flight.release();
      (void)host_.release();
      (void)launch_.release();
      (void)device_.release();
    }
  }
  under_way_.clear();
  free_.clear();
  host_.reset();
  launch_.reset();
  device_.reset();
}

}  // namespace lanecrypt::runtime
