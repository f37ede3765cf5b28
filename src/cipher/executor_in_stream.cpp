// What callers' own threads do for jobs in their streams: most often all, since to wake the
// device's thread, and to be woken by it, takes longer than a short job does.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <thread>

#include "cipher/executor.h"

namespace lanecrypt::runtime {
namespace {

// A short job is over before a sleep would end, which takes 50 us more than it is asked to: 1 % of
// kWatch. A long one must not keep a core busy: each sleep is this part of the time so far.
constexpr std::chrono::microseconds kWatch{4000}, kShortestSleep{20}, kLongestSleep{1000};
constexpr int kPartOfTime = 64;

}  // namespace

// Wakes the device's thread when it goes, if it must.
class Executor::Alarm {
 public:
  explicit Alarm(Executor &executor) : executor_(executor) {}
  ~Alarm() {
    if (must_ring) executor_.wake();
  }
  Alarm(const Alarm &) = delete;
  bool must_ring = false;

 private:
  Executor &executor_;
};

bool Executor::start_here(const RequestPointer &request) {
  if (state_ != LC_DEVICE_READY || stopping_) return false;
  bool has_begun = false;
  {
    Alarm alarm(*this);
    Turn turn(*use_, use_->take_if_idle());
    const CipherKind &kind = request->job.kind;
    // Such devices as have default streams let any thread use them, one at a time.
    if (!turn || state_ != LC_DEVICE_READY || stopping_ || !properties().default_streams ||
        !offers(kind) || !is_proven(kind) || !pipeline_->has_free_slot(true))
      return false;
    device_->on_callers_thread([&] {
      has_begun = true;
      put_into_stream(request, turn, alarm);
    });
  }
  if (has_begun) (void)request->wait_enqueued();
  return has_begun;
}

void Executor::put_into_stream(const RequestPointer &request, Turn &turn, Alarm &alarm) {
  // A caller that polls nothing: its many jobs then need few slots.
  if (const RequestPointer oldest = pipeline_->oldest_owned(); oldest != nullptr)
    take_back_without_callback(*oldest);
  std::list<RequestPointer> its_rest = {request};
  request->poll_until_done = [use = use_, this, its = request.get()](Deadline deadline) {
    try {
      const DeviceUse::Visit visit(*use);
      if (visit) poll_until_done(*its, deadline);
    } catch (const std::bad_alloc &) {  // the device's thread ends it before long
    }
  };
  load_bytes_ += request->load_bytes;
  // The first steps of a launch that fails may still wait in the stream, and hold what the next
  // launch in another stream would take for its own. The device's thread, which ends what failed,
  // comes before anyone launches again.
  turn.pass_to_device(true);
  alarm.must_ring = true;
  const bool is_first = !is_used_by_callers_.exchange(true);
  Status status;
  do {
    status = start_on_device(request);
  } while (status.ok() && !request->todo.empty() && pipeline_->has_free_slot(true) &&
           !use_->device_waits());
  const bool has_rest = status.ok() && !request->todo.empty();
  if (has_rest)
    queue_.splice(queue_.end(), its_rest);
  else
    end_if_over(request);
  turn.pass_to_device(!status.ok());
  alarm.must_ring = is_first || has_rest || !status.ok();
}

// For a thread that has neither lock nor use of the device.
void Executor::wake() {
  std::lock_guard lock(mutex_);
  changed_.notify_all();
  wake_event_.set();
}

// Takes back what has ended well of a request, for who has the use of the device on a caller's
// thread, where no callback may find that taken. False if the request has a callback.
bool Executor::take_back_without_callback(Request &request) {
  const std::unique_lock callbacks_lock = request.lock_callbacks();
  if (!callbacks_lock) return false;
  while (std::optional<Retired> retired = pipeline_->retire_in_stream(request))
    take_back(std::move(*retired));
  return true;
}

// The device stays open meanwhile.
void Executor::poll_until_done(Request &request, Deadline deadline) {
  if (request.has_callback()) return wake();
  const bool waits = deadline != kAtOnce;
  bool has_failed = false;
  // The device's thread may have the use for as long as another caller's stream takes, but it ends
  // what is over before.
  const auto gives_up = [&request, deadline] {
    Status status;
    return request.ended(&status) || Deadline::clock::now() >= deadline;
  };
  device_->on_callers_thread([&] {
    if (waits && !await_end(request, deadline, gives_up)) return;
    const Turn turn(*use_, waits ? use_->take_unless(gives_up) : use_->take_if_free());
    if (!turn || !take_back_without_callback(request)) return;
    has_failed = state_ == LC_DEVICE_LOST || pipeline_->end_in_stream(request) != nullptr;
  });
  // What has not ended well is for the device's thread.
  if (waits && has_failed) wake();
}

// False if it gave up before.
bool Executor::await_end(const Request &request, Deadline deadline,
                         const std::function<bool()> &gives_up) {
  std::shared_ptr<device::Event> end;
  if (const Turn turn(*use_, use_->take_unless(gives_up)); turn)
    end = pipeline_->end_in_stream(request);
  if (end == nullptr) return true;
  using Clock = Deadline::clock;
  const Clock::time_point begin = Clock::now();
  while (!end->reached()) {
    const Clock::time_point now = Clock::now();
    if (now >= deadline) return false;
    const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(now - begin);
    if (waited < kWatch) continue;
    if (gives_up() || use_->is_closed()) return false;
    std::this_thread::sleep_for(std::clamp(waited / kPartOfTime, kShortestSleep, kLongestSleep));
  }
  return true;
}

Status Executor::await_stream(void *handle) {
  if (state_ != LC_DEVICE_READY) LC_TRY(make_ready());
  Status status(LC_ERROR_DEVICE, "the device cannot be used on this thread");
  device_->on_callers_thread([&] {
    Result<std::unique_ptr<device::Stream>> stream = device_->adopt_stream(handle);
    status = stream.ok() ? await_all_in(**stream) : stream.status();
  });
  return status;
}

Status Executor::await_all_in(device::Stream &stream) {
  Result<std::unique_ptr<device::Event>> end = device_->make_quiet_event();
  if (!end.ok()) return end.status();
  LC_TRY(stream.mark(**end));
  return (*end)->wait_long();
}

Status Executor::begin_thread_order(Request &request) {
  if (!properties().default_streams) return device::no_default_streams(properties());
  if (state_ != LC_DEVICE_READY) LC_TRY(make_ready());
  Status status(LC_ERROR_DEVICE, "the device cannot be used on this thread");
  device_->on_callers_thread([&] { status = mark_thread_order(request); });
  return status;
}

Status Executor::mark_thread_order(Request &request) {
  Result<std::unique_ptr<device::Stream>> stream = device_->adopt_stream(LC_STREAM_PER_THREAD);
  if (!stream.ok()) return stream.status();
  auto order = std::make_unique<ThreadOrder>();
  for (std::unique_ptr<device::Event> *event : {&order->before, &order->after}) {
    Result<std::unique_ptr<device::Event>> made = device_->make_quiet_event();
    if (!made.ok()) return made.status();
    *event = std::move(*made);
  }
  LC_TRY((*stream)->mark(*order->before));
  request.order = std::move(order);
  return Status();
}

Status Executor::end_thread_order(Request &request) {
  Status status(LC_ERROR_DEVICE, "the device cannot be used on this thread");
  device_->on_callers_thread([&] {
    Result<std::unique_ptr<device::Stream>> stream = device_->adopt_stream(LC_STREAM_PER_THREAD);
    status = stream.ok() ? (*stream)->await(*request.order->after) : stream.status();
    // What waits for an event does so when it is gone, too.
    request.order.reset();
  });
  return status;
}

}  // namespace lanecrypt::runtime
