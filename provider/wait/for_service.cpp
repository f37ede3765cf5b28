// Waits for the service's operations, in a thread or in an ASYNC job.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/wait/for_service.h"

#include <openssl/async.h>

#include <memory>
#include <new>
#include <optional>

#include "process/cancellation.h"
#include "provider/dispatch.h"
#include "provider/wait/jobs.h"
#include "service/client/job_watch.h"

namespace lanecrypt::provider {
namespace {

using client::Exchange;
using client::JobWatch;
using process::CancellationOff;

bool waits_by_callback(ASYNC_JOB *job) {
  ASYNC_callback_fn callback = nullptr;
  void *argument = nullptr;
  return ASYNC_WAIT_CTX_get_callback(ASYNC_get_wait_ctx(job), &callback, &argument) != 0 &&
         callback != nullptr;
}

// The address of kKey identifies our entry in a wait context.
const char kKey = 0;

void let_go(ASYNC_WAIT_CTX *, const void *, OSSL_ASYNC_FD, void *watch) {
  const CancellationOff not_cancelled;
  delete static_cast<JobWatch *>(watch);
}

// watch_of() returns the watch of a wait context, which owns it. It creates one if necessary. It
// returns nullptr if no descriptor can be created.
JobWatch *watch_of(ASYNC_WAIT_CTX *context) {
  OSSL_ASYNC_FD descriptor = -1;
  void *known = nullptr;
  if (ASYNC_WAIT_CTX_get_fd(context, &kKey, &descriptor, &known)) {
    auto *const watch = static_cast<JobWatch *>(known);
    if (watch->is_usable()) return watch;
    (void)ASYNC_WAIT_CTX_clear_fd(context, &kKey);
    delete watch;
  }
  auto made = std::make_unique<JobWatch>();
  if (made->descriptor() < 0 || !ASYNC_WAIT_CTX_set_wait_fd(context, &kKey, made->descriptor(),
                                                            made.get(), called_from_c<let_go>))
    return nullptr;
  return made.release();
}

// PausedForService is the operation for which a job pauses. It is on the job's stack, and owns
// nothing.
class PausedForService final : public PausedWork {
 public:
  PausedForService(JobWatch &watch, client::Channel &channel, Exchange &exchange)
      : watch_(watch), channel_(channel), exchange_(exchange), operation_(watch.begin()) {}

  bool is_over() override {
    // The first call follows right after the request, when there is no answer yet.
    if (is_new_) {
      is_new_ = false;
      return false;
    }
    if (!has_channel()) return true;
    const CancellationOff not_cancelled;
    state_ = exchange_.receive(false);
    if (state_ == Exchange::State::kWaits && watch_.session().is_silent(channel_)) {
      watch_.session().end(client::Fault::kService);
      state_ = Exchange::State::kEnded;
    }
    return state_ != Exchange::State::kWaits;
  }
  void block() override {
    if (!has_channel()) return;
    const CancellationOff not_cancelled;
    state_ = exchange_.wait();
  }

  // has_channel() returns false if the channel now belongs to another operation or another process.
  bool has_channel() const { return watch_.has(operation_); }
  Exchange::State state() const { return state_; }

 private:
  JobWatch &watch_;
  client::Channel &channel_;
  Exchange &exchange_;
  const uint64_t operation_;
  Exchange::State state_ = Exchange::State::kWaits;
  bool is_new_ = true;
};

// prepare() returns a channel of `watch` on which the request may be sent. If it returns nullptr,
// `*taken` is the result of the operation.
client::Channel *prepare(client::Connection &connection, const client::Key &key, JobWatch *watch,
                         OffloadResult *taken) {
  const std::shared_ptr<client::Session> session = connection.session();
  *taken = OffloadResult::kNotTaken;
  if (session == nullptr || watch == nullptr || !key.has_room_in(*session)) return nullptr;
  client::Channel *const channel = watch->prepare(session);
  if (channel == nullptr && session->has_ended()) {
    // Makes the connection notice the end of the session now, so that the loss is logged now.
    (void)connection.session();
    *taken = OffloadResult::kFailed;
  }
  return channel;
}

OffloadResult pause_for(ASYNC_JOB *job, client::Connection &connection, client::Key &key,
                        std::span<const uint8_t> in, std::span<uint8_t> out) {
  std::optional<CancellationOff> not_cancelled(std::in_place);
  JobWatch *const watch = watch_of(ASYNC_get_wait_ctx(job));
  OffloadResult taken;
  client::Channel *const channel = prepare(connection, key, watch, &taken);
  if (channel == nullptr) return taken;
  Exchange exchange(watch->session(), *channel, key, in, out);
  Exchange::State state = exchange.send();
  not_cancelled.reset();
  if (state == Exchange::State::kWaits) {
    PausedForService work(*watch, *channel, exchange);
    pause_until_over(work);
    if (!work.has_channel()) return OffloadResult::kFailed;
    state = work.state();
  }
  const CancellationOff again_not_cancelled;
  if (state == Exchange::State::kEnded)
    watch->drop();
  else
    watch->finish();
  return client::conclude(connection, exchange, state);
}

}  // namespace

uint32_t operations_in_line_for_service() {
  ASYNC_JOB *const job = ASYNC_get_current_job();
  return job == nullptr || waits_by_callback(job) ? 1 : operations_in_line();
}

OffloadResult run_by_service(client::Connection &connection, client::Key &key,
                             std::span<const uint8_t> in, std::span<uint8_t> out) {
  try {
    ASYNC_JOB *const job = ASYNC_get_current_job();
    if (job != nullptr && !waits_by_callback(job)) return pause_for(job, connection, key, in, out);
    const CancellationOff not_cancelled;
    return client::run_private(connection, key, in, out);
  } catch (const std::bad_alloc &) {
    return OffloadResult::kNotTaken;
  }
}

}  // namespace lanecrypt::provider
