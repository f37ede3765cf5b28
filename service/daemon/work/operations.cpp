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

Outcome outcome_of(lc_status status) {
  switch (status) {
    case LC_OK:
      return Outcome::kDone;
    case LC_ERROR_ARGUMENT:  // the key was checked, so it is the input
      return Outcome::kBadInput;
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

// A device takes longer for longer numbers, and needs fewer of them to be busy.
size_t cost_of(uint32_t modulus_bits) {
  const size_t length = (modulus_bits + 2047) / 2048;
  return length * length;
}

uint64_t nanoseconds(Clock::duration time) {
  const auto count = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  return uint64_t(std::max<int64_t>(0, count));
}

}  // namespace

Operations::Operations(StatusPage &page, Counters &counters, void (*on_trouble)(void *),
                       void *argument)
    : page_(page), counters_(counters), on_trouble_(on_trouble), argument_(argument) {}

void Operations::arrive(Channel &channel, uint32_t modulus_bits) {
  channel.request.result = {};
  channel.request.modulus_bits = modulus_bits;
  channel.request.load = page_.operations.fetch_add(1, std::memory_order_relaxed) + 1;
}

void Operations::wait(Channel &channel) {
  channel.request.cost = cost_of(channel.request.modulus_bits);
  bool has_room = false;
  {
    const std::lock_guard lock(mutex_);
    has_room =
        !stopping_ && turns_.add(channel.session->operation_line, channel, kMostWaitingOfUser);
  }
  if (!has_room) finish(channel, Outcome::kBusy);
}

void Operations::give() {
  const Clock::time_point now = Clock::now();
  while (true) {
    Channel *next = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const auto *const first = static_cast<const Channel *>(turns_.first());
      // However long it is, one always fits alone.
      if (first == nullptr || (in_window_ != 0 && in_window_ + first->request.cost > kWindow))
        return;
      next = static_cast<Channel *>(turns_.take());
      in_window_ += next->request.cost;
    }
    counters_.under_way.fetch_add(1, std::memory_order_relaxed);
    if (now - next->since > kMostWait) {
      const size_t cost = next->request.cost;
      finish(*next, Outcome::kBusy);
      (void)leave_window(cost);
    } else {
      submit(*next);
    }
  }
}

void Operations::submit(Channel &channel) {
  Request &request = channel.request;
  lc_rsa_message message{request.key->checked(), channel.data(), channel.data()};
  lc_rsa_job job{};
  job.struct_size = sizeof job;
  job.operation = LC_RSA_PRIVATE;
  job.device = LC_ANY_DEVICE;
  job.messages = &message;
  job.message_count = 1;
  job.message_size = sizeof message;
  request.given = Clock::now();
  request.result.struct_size = sizeof request.result;
  lc_completion completion{};
  completion.struct_size = sizeof completion;
  completion.callback = ended;
  completion.argument = &channel;
  completion.eventfd = -1;
  completion.result = &request.result;
  lc_context *const context = context_;
  const lc_status status =
      context == nullptr ? LC_ERROR_NO_DEVICE : lc_rsa_submit(context, &job, &completion, nullptr);
  if (status == LC_OK) return;
  const size_t cost = request.cost;
  if (status == LC_ERROR_NO_DEVICE) on_trouble_(argument_);
  finish(channel, outcome_of(status));
  (void)leave_window(cost);
}

// On a thread of the library's.
void Operations::ended(void *argument, lc_status status) noexcept {
  Channel &channel = *static_cast<Channel *>(argument);
  Operations &self = channel.session->service().operations;
  const size_t cost = channel.request.cost;
  if (status == LC_ERROR_NO_DEVICE || status == LC_ERROR_DEVICE) self.on_trouble_(self.argument_);
  self.finish(channel, outcome_of(status));
  if (self.leave_window(cost)) self.give();
}

bool Operations::leave_window(size_t cost) {
  counters_.under_way.fetch_sub(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  in_window_ -= cost;
  if (in_window_ == 0 && stopping_) all_ended_.notify_all();
  return turns_.waiting() != 0;
}

void Operations::finish(Channel &channel, Outcome outcome) {
  const std::shared_ptr<Session> session = channel.session;
  const Request &request = channel.request;
  KindCounters &counters = counters_.rsa_private[StatusPage::size_of(request.modulus_bits)];
  counters.count(outcome);
  page_.operations.fetch_sub(1, std::memory_order_relaxed);
  const bool is_done = outcome == Outcome::kDone;
  if (is_done) {
    session->user->operations.fetch_add(1, std::memory_order_relaxed);
    count_done(channel, Clock::now());
  }
  const std::span<const uint8_t> output = is_done ? channel.output() : std::span<const uint8_t>();
  const RsaResult answer{header_of<RsaResult>(Kind::kRsaResult, output.size()), outcome,
                         uint32_t(output.size())};
  const std::span<const uint8_t> pieces[] = {bytes_of(answer), output};
  if (channel.end(pieces).is_full) session->end();
}

void Operations::count_done(const Channel &channel, Clock::time_point now) {
  const Request &request = channel.request;
  const uint64_t in_service = nanoseconds(now - channel.since);
  note_latency(page_, request.modulus_bits, request.load, in_service / 1000);
  KindCounters &counters = counters_.rsa_private[StatusPage::size_of(request.modulus_bits)];
  counters.service_time.add(in_service);
  // If the CPU made the result, since the device's was wrong, there is no batch.
  const uint64_t together = request.result.batch_operations;
  if (together == 0) return;
  counters.batches.fetch_add((uint64_t{1} << 32) / together, std::memory_order_relaxed);
  counters.batch_operations.add(together);
  counters.queue_time.add(nanoseconds(request.given - channel.since) + request.result.waiting_ns);
  counters.device_time.add(request.result.device_ns);
}

// ---- What is not done -------------------------------------------------------

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
    all = turns_.close(session.operation_line);
  }
  refuse(all, Outcome::kBusy);
}

void Operations::send_away_late() {
  Waiting *late = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (turns_.waiting() != 0) late = turns_.take_older(Clock::now() - kMostWait);
  }
  refuse(late, Outcome::kBusy);
}

void Operations::stop() {
  Waiting *all = nullptr;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    all = turns_.take_older(Clock::time_point::max());
  }
  refuse(all, Outcome::kBusy);
}

bool Operations::await_all(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return all_ended_.wait_for(lock, limit, [this] { return in_window_ == 0; });
}

}  // namespace lanecrypt::service::daemon
