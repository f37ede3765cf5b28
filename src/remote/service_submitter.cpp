// SPDX-License-Identifier: Apache-2.0
#include "remote/service_submitter.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>

#include "secure/key_memory.h"

namespace lanecrypt::remote {
namespace {

using client::Clock;
using client::Exchange;

// The most operations at once. More hardly improve a batch, and each needs a descriptor.
constexpr size_t kMostAtOnce = 512;

uint64_t nanoseconds(Clock::duration time) {
  return uint64_t(std::max<int64_t>(std::chrono::nanoseconds(time).count(), 0));
}

// The same error as if a device of this process had found the fault: any further signature with
// this one-time key would reveal the key.
Status fault_was_signed() {
  try {
    return Status(
        LC_ERROR_DEVICE,
        "the service has signed another root with a one-time key of this key: a fault was "
        "signed before, or now");
  } catch (const std::bad_alloc &) {
    return Status(LC_ERROR_DEVICE, "");
  }
}

}  // namespace

// An operation that was sent on a channel, or is about to be.
struct ServiceSubmitter::Slot {
  Slot(Operation its, std::shared_ptr<client::Session> its_session, client::Channel &its_channel,
       RemoteKey &key, bool is_checked)
      : operation(std::move(its)),
        session(std::move(its_session)),
        channel(its_channel),
        output(operation.remote->output(operation.number)),
        unchecked(is_checked ? output.size() : 0),
        exchange(*session, channel, key, operation.remote->input(operation.number, buffer),
                 is_checked ? std::span(unchecked) : output) {}
  ~Slot() {
    secure::wipe(buffer.data(), buffer.size());
    secure::wipe(unchecked.data(), unchecked.size());
  }

  const Operation operation;
  const std::shared_ptr<client::Session> session;
  client::Channel &channel;
  const std::span<uint8_t> output;
  // Holds the output until it is checked. Its final place may be that of the input, which the check
  // needs.
  std::vector<uint8_t> unchecked;
  RemoteRequest::InputBuffer buffer;
  const Clock::time_point sent = Clock::now();
  Exchange exchange;
};

ServiceSubmitter::ServiceSubmitter(const Service &service, OnOver on_over)
    : service_(service), on_over_(std::move(on_over)) {}

ServiceSubmitter::~ServiceSubmitter() = default;

void ServiceSubmitter::add(const RemoteRequestPointer &remote) {
  runtime::BatchRequest &request = *remote->request;
  for (const uint32_t number : request.todo) {
    if (request.kind_of(number).suits_devices() && put_in_line({remote, number}))
      ++remote->under_way;
    else
      remote->left.push_back(number);
  }
  request.todo.clear();
  if (remote->under_way == 0) on_over_(*remote);
}

// Queues an operation. Returns false if there is no memory.
bool ServiceSubmitter::put_in_line(Operation operation) {
  try {
    waiting_.push_back(std::move(operation));
    return true;
  } catch (const std::bad_alloc &) {
    return false;
  }
}

void ServiceSubmitter::step(int wake) {
  try {
    send_waiting(service_.client->here());
  } catch (const std::bad_alloc &) {  // there is no memory to send the others
    leave_waiting();
  }
  if (slots_.empty()) return;
  // send_waiting() has reserved room for all slots and for `wake`.
  polled_.clear();
  for (const std::unique_ptr<Slot> &slot : slots_)
    polled_.push_back({slot->channel.socket.get(), POLLIN, 0});
  if (wake >= 0) polled_.push_back({wake, POLLIN, 0});
  constexpr int kMostMs = 1000;
  if (poll(polled_.data(), polled_.size(), kMostMs) < 0) note_failed_poll();
  take_answers();
}

// Sets up the results after a failed poll(). After a signal no channel is read, so that regular
// signals do not hide that the service is silent. poll() also fails with more descriptors than
// RLIMIT_NOFILE allows, which the program may have lowered since: then every channel is read.
void ServiceSubmitter::note_failed_poll() {
  const bool is_signal = errno == EINTR;
  for (pollfd &one : polled_) one.revents = is_signal ? 0 : POLLIN;
  if (!is_signal) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void ServiceSubmitter::leave_waiting() {
  while (!waiting_.empty()) {
    const Operation operation = std::move(waiting_.front());
    waiting_.pop_front();
    leave(operation, OffloadResult::kNotTaken);
  }
}

// Sends waiting operations for as long as there is room. Throws std::bad_alloc; operations that
// were not sent then still wait.
void ServiceSubmitter::send_waiting(client::Connection &connection) {
  const size_t most = std::min(slots_.size() + waiting_.size(), kMostAtOnce);
  slots_.reserve(most);
  polled_.reserve(most + 1);  // slots and `wake`
  while (!waiting_.empty() && slots_.size() < kMostAtOnce) {
    const std::shared_ptr<client::Session> session = service_.session();
    if (session == nullptr) return leave_waiting();
    if (!send_one(connection, session)) return;
  }
}

// Sends or returns the first waiting operation. Returns false if there is no channel now but one of
// this object's will become free.
bool ServiceSubmitter::send_one(client::Connection &connection,
                                const std::shared_ptr<client::Session> &session) {
  const Operation operation = waiting_.front();
  RemoteKey &key = operation.remote->key(operation.number, service_);
  OffloadResult taken = OffloadResult::kNotTaken;
  // A request that has failed gains nothing by further operations.
  const bool is_wanted = operation.remote->request->failure.ok();
  if (is_wanted && !key.is_refused() && key.has_room_in(*session)) {
    client::Channel *const channel = session->take();
    if (channel == nullptr && !session->has_ended() && !slots_.empty()) return false;
    if (channel != nullptr) {
      try {
        slots_.push_back(
            std::make_unique<Slot>(operation, session, *channel, key, service_.checks_all));
      } catch (const std::bad_alloc &) {
        session->give_back(channel);
        throw;
      }
      waiting_.pop_front();
      Slot &slot = *slots_.back();
      session->under_way.fetch_add(1, std::memory_order_relaxed);
      const Exchange::State state = slot.exchange.send();
      if (state == Exchange::State::kWaits) return true;
      settle(slot, state);
      slots_.pop_back();
      return true;
    }
    if (session->has_ended()) taken = OffloadResult::kFailed;
  }
  waiting_.pop_front();
  leave(operation, taken);
  return true;
}

// Receives the answers on the channels that poll() has marked. Ends the session of an operation
// that got no answer within kSilence.
void ServiceSubmitter::take_answers() {
  const Clock::time_point now = Clock::now();
  const size_t count = slots_.size();
  for (size_t n = 0; n < count; ++n) {
    Slot &slot = *slots_[n];
    Exchange::State state = Exchange::State::kWaits;
    if (polled_[n].revents != 0) state = slot.exchange.receive(false);
    if (state == Exchange::State::kWaits) {
      // The other operations of the session wake too and find it ended.
      if (now - slot.sent > client::kSilence) slot.session->end(client::Fault::kService);
      continue;
    }
    settle(slot, state);
    slots_[n].reset();
  }
  std::erase(slots_, nullptr);
}

// Ends an operation that was sent: gives its channel back, checks the output if that was requested,
// and counts the operation as done or puts it into RemoteRequest::left.
void ServiceSubmitter::settle(Slot &slot, Exchange::State state) {
  slot.session->under_way.fetch_sub(1, std::memory_order_relaxed);
  if (state == Exchange::State::kEnded)
    slot.session->drop(&slot.channel);
  else
    slot.session->give_back(&slot.channel);
  OffloadResult taken = client::conclude(service_.client->here(), slot.exchange, state);
  if (taken == OffloadResult::kDone && service_.checks_all) {
    if (is_right(slot))
      std::memcpy(slot.output.data(), slot.unchecked.data(), slot.unchecked.size());
    else
      taken = OffloadResult::kFailed;
  }
  if (taken != OffloadResult::kDone) return leave(slot.operation, taken);
  count_done(slot);
  finish_one(*slot.operation.remote);
}

// Returns whether the output passes the check. Without memory for the check it does not.
bool ServiceSubmitter::is_right(const Slot &slot) {
  try {
    return slot.operation.remote->is_right(slot.operation.number, slot.unchecked);
  } catch (const std::bad_alloc &) {
    return false;
  }
}

void ServiceSubmitter::count_done(const Slot &slot) const {
  runtime::BatchRequest &request = *slot.operation.remote->request;
  ++request.result.device_operations;
  ++request.result.service_operations;
  request.result.device_bytes += request.bytes_of(slot.operation.number);
  request.result.waiting_ns = nanoseconds(slot.sent - request.submitted);
  request.result.device_ns = nanoseconds(Clock::now() - slot.sent);
}

// Puts an operation that the service has not done into RemoteRequest::left, and notes the reason.
void ServiceSubmitter::leave(const Operation &operation, OffloadResult taken) {
  RemoteRequest &remote = *operation.remote;
  remote.left.push_back(operation.number);
  if (taken == OffloadResult::kFailed) remote.has_failed = true;
  if (taken == OffloadResult::kRefused) {
    remote.request->failure = fault_was_signed();
    ++remote.request->result.failed_checks;
  }
  finish_one(remote);
}

void ServiceSubmitter::finish_one(RemoteRequest &remote) {
  if (--remote.under_way == 0) on_over_(remote);
}

}  // namespace lanecrypt::remote
