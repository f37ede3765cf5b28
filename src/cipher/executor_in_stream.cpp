// Jobs in streams of callers', which their callers' own threads put there and see end. To wake the
// device's thread for either, and to be woken by it, takes longer than a short job does.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include "cipher/executor.h"

namespace lanecrypt::runtime {
namespace {

using Turn = DeviceUse::Turn;

// A short job is over before a sleep would end. A long one must not keep a core busy: each sleep
// is this part of the time so far.
constexpr std::chrono::microseconds kWatch{200}, kShortestSleep{20}, kLongestSleep{1000};
constexpr int kPartOfTime = 32;

}  // namespace

bool Executor::start_here(const RequestPointer &request) {
  if (state_ != LC_DEVICE_READY || stopping_) return false;
  bool has_begun = false, must_wake = false;
  {
    const Turn turn(*use_);
    const CipherKind &kind = request->job.kind;
    // Such devices as have default streams let any thread use them, one at a time.
    if (!turn || state_ != LC_DEVICE_READY || stopping_ || !properties().default_streams ||
        !offers(kind) || !is_proven(kind) || !pipeline_->has_free_slot(true))
      return false;
    device_->on_callers_thread([&] {
      has_begun = true;
      must_wake = put_into_stream(request);
    });
  }
  if (!has_begun) return false;
  if (must_wake) wake();
  (void)request->wait_enqueued();
  return true;
}

// Returns whether the device's thread has something to do.
bool Executor::put_into_stream(const RequestPointer &request) {
  // Of a caller who looks after nothing, so that his jobs need few slots.
  if (const RequestPointer oldest = pipeline_->oldest_looked_after(); oldest != nullptr)
    while (std::optional<Retired> retired = pipeline_->retire_in_stream(*oldest))
      take_back(std::move(*retired));
  request->bring_about = [use = use_, this, its = request.get()](bool waits) {
    const DeviceUse::Visit visit(*use);
    if (visit) bring_about(*its, waits);
  };
  load_bytes_ += request->load_bytes;
  Status status;
  while (status.ok() && !request->todo.empty() && pipeline_->has_free_slot(true))
    status = start_on_device(request);
  if (!request->todo.empty())
    queue_.push_back(request);
  else
    end_if_over(request);
  return !is_used_by_callers_.exchange(true) || !status.ok() || !queue_.empty();
}

// For a thread that has neither lock nor use of the device.
void Executor::wake() {
  std::lock_guard lock(mutex_);
  changed_.notify_all();
  bell_.ring();
}

// The device stays open meanwhile.
void Executor::bring_about(Request &request, bool waits) {
  bool has_failed = false;
  // The device's thread may have the use for as long as another caller's stream takes, but it ends
  // what is over before.
  const auto gives_up = [&request] {
    Status status;
    return request.ended(&status);
  };
  device_->on_callers_thread([&] {
    if (waits) await_end(request, gives_up);
    const Turn turn = waits ? Turn(*use_, gives_up) : Turn(*use_);
    if (!turn) return;
    while (std::optional<Retired> retired = pipeline_->retire_in_stream(request))
      take_back(std::move(*retired));
    has_failed = state_ == LC_DEVICE_LOST || pipeline_->end_in_stream(request) != nullptr;
  });
  // What has not ended well is for the device's thread.
  if (waits && has_failed) wake();
}

// Returns sooner if the request ends otherwise.
void Executor::await_end(const Request &request, const std::function<bool()> &gives_up) {
  std::shared_ptr<device::Event> end;
  if (const Turn turn(*use_, gives_up); turn) end = pipeline_->end_in_stream(request);
  if (end == nullptr) return;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  while (!end->reached()) {
    const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
    if (waited < kWatch) continue;
    if (gives_up() || use_->is_closed()) return;
    std::this_thread::sleep_for(std::clamp(waited / kPartOfTime, kShortestSleep, kLongestSleep));
  }
}

}  // namespace lanecrypt::runtime
