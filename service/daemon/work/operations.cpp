// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/work/operations.h"

#include <algorithm>

#include "service/daemon/client/key.h"
#include "service/daemon/client/session.h"
#include "service/daemon/limits.h"
#include "service/daemon/report/page.h"
#include "service/daemon/service.h"

namespace lanecrypt::service::daemon {
namespace {

// Maps the library's status to an outcome. `has_run`: the library had accepted the operation.
Outcome outcome_of(lc_status status, const Request &request, bool has_run) {
  // The library compares with what the key has signed only after a failed check. So this error with
  // a failed check means that a fault was signed.
  if (status == LC_ERROR_DEVICE && request.operation_kind.family == Family::kSlhDsa &&
      request.result.failed_checks != 0)
    return Outcome::kFaultSigned;
  switch (status) {
    case LC_OK:
      return Outcome::kDone;
    case LC_ERROR_ARGUMENT:  // the library refuses a wrong input before it accepts the job
      return has_run ? Outcome::kBadKey : Outcome::kBadInput;
    case LC_ERROR_UNSUPPORTED:
      return Outcome::kBadKey;
    case LC_ERROR_MEMORY:
      return Outcome::kBusy;
    case LC_ERROR_NO_DEVICE:
      return Outcome::kNoDevice;
    default:
      return Outcome::kFailed;
  }
}

// Returns the cost of an operation, in operations of RSA-2048. A device takes longer for longer
// numbers and needs fewer of them to be busy.
size_t cost_of(const Key &key) {
  const OperationKind &operation_kind = key.operation_kind();
  if (operation_kind.family == Family::kRsa) {
    const size_t length = (key.charged_bits() + 2047) / 2048;
    return length * length;
  }
  // A signature of ML-DSA takes a device less time than an operation of RSA-2048. That is as long
  // as some 90,000 hashes of SHA-256, or a quarter as many of SHAKE.
  const SignatureSet &set = kSignatureSets[index_of_set(operation_kind)];
  return std::max<size_t>(1, (set.thousand_hashes * (set.is_shake() ? 4 : 1) + 89) / 90);
}

// Returns a job of one operation, for any device.
template <class Job, class Message>
Job job_of(const Message &message) {
  Job job{};
  job.struct_size = sizeof job;
  job.device = LC_ANY_DEVICE;
  job.messages = &message;
  job.message_count = 1;
  job.message_size = sizeof message;
  return job;
}

// Returns the message of a signature over the first `bytes` bytes of a request. The signature may
// overwrite them: the library reads the input first.
template <class Message, class LibrarysKey>
Message message_of(const LibrarysKey *key, Channel &channel, size_t bytes) {
  Message message{};
  message.key = key;
  message.message = channel.data();
  message.message_bytes = bytes;
  message.signature = channel.output().data();
  message.signature_bytes = channel.output().size();
  return message;
}

uint64_t nanoseconds(Clock::duration time) {
  const auto count = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  return uint64_t(std::max<int64_t>(0, count));
}

}  // namespace

Operations::Operations(StatusPage &page, Counters &counters, void (*on_trouble)(void *),
                       void *argument)
    : page_(page), counters_(counters), on_trouble_(on_trouble), argument_(argument) {}

void Operations::arrive(Channel &channel, const OperationKind &operation_kind) {
  channel.request.result = {};
  channel.request.operation_kind = operation_kind;
  channel.request.load = page_.operations.fetch_add(1, std::memory_order_relaxed) + 1;
}

void Operations::wait(Channel &channel) {
  channel.request.cost = cost_of(*channel.request.key);
  if (takes_at_once(channel.request.cost)) return submit(channel);
  bool has_room = false;
  {
    const std::lock_guard lock(mutex_);
    has_room =
        !stopping_ && queue_.add(channel.session->operation_line, channel, kMostWaitingOfUser);
    waiting_ = queue_.waiting();
  }
  if (!has_room) finish(channel, Outcome::kBusy);
}

// Returns whether an operation may go to the library without the queue and its lock, and takes its
// cost from the window. That is so if nothing waits and the window has room.
bool Operations::takes_at_once(size_t cost) {
  if (waiting_ != 0) return false;
  // stop() sets stopping_ before it reads the window.
  const size_t before = in_window_.fetch_add(cost);
  if ((before == 0 || before + cost <= kWindow) && !stopping_) return true;
  leave_window(cost);
  return false;
}

void Operations::give() {
  if (waiting_ == 0) return;
  const Clock::time_point now = Clock::now();
  while (true) {
    Channel *next = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const auto *const first = static_cast<const Channel *>(queue_.first());
      // An operation always fits into an empty window, however large its cost.
      const size_t in_window = in_window_;
      if (first == nullptr || (in_window != 0 && in_window + first->request.cost > kWindow)) return;
      next = static_cast<Channel *>(queue_.take());
      in_window_ += next->request.cost;
      waiting_ = queue_.waiting();
    }
    if (now - next->since > kMostWait) {
      const size_t cost = next->request.cost;
      finish(*next, Outcome::kBusy);
      leave_window(cost);
    } else {
      submit(*next);
    }
  }
}

// Submits the operation of a channel to the library. On LC_OK the library will call `completion`.
lc_status Operations::give_to_library(Channel &channel, const lc_completion &completion) {
  lc_context *const context = context_;
  if (context == nullptr) return LC_ERROR_NO_DEVICE;
  if (!channel.make_room_for_output()) return LC_ERROR_MEMORY;
  const LibraryKey &key = channel.request.key->checked();
  if (key.rsa() != nullptr) {
    const lc_rsa_message message{key.rsa(), channel.data(), channel.data()};
    auto job = job_of<lc_rsa_job>(message);
    job.operation = LC_RSA_PRIVATE;
    return lc_rsa_submit(context, &job, &completion, nullptr);
  }
  if (key.ml_dsa() != nullptr) {
    auto message = message_of<lc_ml_dsa_message>(key.ml_dsa(), channel, kMlDsaMuBytes);
    message.random = channel.data() + kMlDsaMuBytes;
    auto job = job_of<lc_ml_dsa_job>(message);
    job.operation = LC_ML_DSA_SIGN;
    job.encoding = LC_MESSAGE_MU;
    return lc_ml_dsa_submit(context, &job, &completion, nullptr);
  }
  const auto message = message_of<lc_slh_dsa_message>(
      key.slh_dsa(), channel,
      kSignatureSets[index_of_set(channel.request.operation_kind)].input_bytes);
  auto job = job_of<lc_slh_dsa_job>(message);
  job.operation = LC_SLH_DSA_SIGN;
  job.encoding = LC_MESSAGE_DIGEST;
  return lc_slh_dsa_submit(context, &job, &completion, nullptr);
}

void Operations::submit(Channel &channel) {
  Request &request = channel.request;
  counters_.under_way.fetch_add(1, std::memory_order_relaxed);
  request.given = Clock::now();
  request.result.struct_size = sizeof request.result;
  lc_completion completion{};
  completion.struct_size = sizeof completion;
  completion.callback = ended;
  completion.argument = &channel;
  completion.eventfd = -1;
  completion.result = &request.result;
  completion.owner = channel.session->user->number;
  const lc_status status = give_to_library(channel, completion);
  if (status == LC_OK) return;
  const size_t cost = request.cost;
  if (status == LC_ERROR_NO_DEVICE) on_trouble_(argument_);
  counters_.under_way.fetch_sub(1, std::memory_order_relaxed);
  finish(channel, outcome_of(status, request, false));
  leave_window(cost);
}

// The completion callback, on a thread of the library.
void Operations::ended(void *argument, lc_status status) noexcept {
  Channel &channel = *static_cast<Channel *>(argument);
  Operations &self = channel.session->service().operations;
  const size_t cost = channel.request.cost;
  if (status == LC_ERROR_NO_DEVICE || status == LC_ERROR_DEVICE) self.on_trouble_(self.argument_);
  self.counters_.under_way.fetch_sub(1, std::memory_order_relaxed);
  const Outcome outcome = outcome_of(status, channel.request, true);
  if (status == LC_ERROR_ARGUMENT && channel.request.key->checked().note_fault())
    self.counters_.keys_at_fault.fetch_add(1, std::memory_order_relaxed);
  self.finish(channel, outcome);
  self.leave_window(cost);
  self.give();
}

// Returns the cost of an operation to the window, and wakes await_all() when the window is empty.
void Operations::leave_window(size_t cost) {
  if (in_window_.fetch_sub(cost) != cost || !stopping_) return;
  const std::lock_guard lock(mutex_);
  all_ended_.notify_all();
}

void Operations::finish(Channel &channel, Outcome outcome) {
  const std::shared_ptr<Session> session = channel.session;
  counters_.of(channel.request.operation_kind).count(outcome);
  page_.operations.fetch_sub(1, std::memory_order_relaxed);
  const bool is_done = outcome == Outcome::kDone;
  if (is_done) {
    session->user->operations.fetch_add(1, std::memory_order_relaxed);
    count_done(channel, Clock::now());
  }
  const std::span<const uint8_t> output = is_done ? channel.output() : std::span<const uint8_t>();
  const Result answer{header_of<Result>(Kind::kResult, output.size()), outcome,
                      uint32_t(output.size())};
  const std::span<const uint8_t> pieces[] = {bytes_of(answer), output};
  if (channel.end(pieces).is_full) session->service().releases.add(session);
}

// Adds the times of an operation that was done to the page and to the counters.
void Operations::count_done(const Channel &channel, Clock::time_point now) {
  const Request &request = channel.request;
  const uint64_t in_service = nanoseconds(now - channel.since);
  // The time of a key with unequal primes says nothing about others with a modulus of the same
  // length.
  const Key &key = *request.key;
  if (key.charged_bits() <= key.operation_kind().size ||
      key.operation_kind().family != Family::kRsa)
    note_latency(page_, request.operation_kind, request.load, in_service / 1000);
  KindCounters &counters = counters_.of(request.operation_kind);
  counters.service_time.add(in_service);
  // If the CPU computed the result, since the device's was wrong, there is no batch.
  const uint64_t together = request.result.batch_operations;
  if (together == 0) return;
  counters.batches.fetch_add((uint64_t{1} << 32) / together, std::memory_order_relaxed);
  counters.batch_operations.add(together);
  counters.queue_time.add(nanoseconds(request.given - channel.since) + request.result.waiting_ns);
  counters.device_time.add(request.result.device_ns);
}

// ---- Refusals ---------------------------------------------------------------

// Answers all requests of a chain with `outcome`.
void Operations::refuse(Waiting *chain, Outcome outcome) {
  while (chain != nullptr) {
    Channel &channel = *static_cast<Channel *>(chain);
    chain = chain->next;
    finish(channel, outcome);
  }
}

void Operations::drop(Session &session) {
  Waiting *all = nullptr;
  {
    const std::lock_guard lock(mutex_);
    all = queue_.close(session.operation_line);
    waiting_ = queue_.waiting();
  }
  refuse(all, Outcome::kBusy);
}

void Operations::send_away_late() {
  Waiting *late = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.waiting() != 0) late = queue_.take_older(Clock::now() - kMostWait);
    waiting_ = queue_.waiting();
  }
  refuse(late, Outcome::kBusy);
}

void Operations::stop() {
  Waiting *all = nullptr;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    all = queue_.take_older(Clock::time_point::max());
    waiting_ = 0;
  }
  refuse(all, Outcome::kBusy);
}

bool Operations::await_all(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return all_ended_.wait_for(lock, limit, [this] { return in_window_ == 0; });
}

}  // namespace lanecrypt::service::daemon
