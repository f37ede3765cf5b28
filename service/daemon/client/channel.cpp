// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/client/channel.h"

#include <algorithm>
#include <new>

#include "service/daemon/client/key.h"
#include "service/daemon/client/session.h"
#include "service/daemon/report/counters.h"

namespace lanecrypt::service::daemon {

Channel::Channel(std::shared_ptr<Session> its_session, Descriptor socket, Quota of_user,
                 DescriptorQuota descriptor, Counters &counters)
    : session(std::move(its_session)),
      of_user_(std::move(of_user)),
      descriptor_(std::move(descriptor)),
      counters_(counters),
      socket_(std::move(socket)) {
  counters_.channels.fetch_add(1, std::memory_order_relaxed);
}

Channel::~Channel() { counters_.channels.fetch_sub(1, std::memory_order_relaxed); }

bool Channel::is_idle() {
  const std::lock_guard lock(mutex_);
  return !is_busy_;
}

void Channel::begin(Kind kind) {
  itself_ = shared_from_this();
  since = Clock::now();
  const std::lock_guard lock(mutex_);
  request.kind = kind;
  is_busy_ = true;
}

bool Channel::keep_input(std::span<const uint8_t> input, size_t output_bytes) {
  const bool is_short = output_bytes <= kMostShortOutputBytes;
  const size_t bytes = std::max(input.size(), is_short ? output_bytes : 0);
  if (!memory_.ok(bytes)) memory_ = secure::KeyMemory(bytes);
  if (!memory_.ok(bytes)) return false;
  used_ = bytes;
  output_bytes_ = output_bytes;
  std::copy(input.begin(), input.end(), memory_.data());
  return true;
}

bool Channel::make_room_for_output() {
  if (output_bytes_ <= kMostShortOutputBytes) return true;
  long_output_.reset(new (std::nothrow) uint8_t[output_bytes_]);
  return long_output_ != nullptr;
}

Channel::Ended Channel::end(std::span<const std::span<const uint8_t>> answer) {
  Ended ended;
  std::shared_ptr<Key> key = std::move(request.key);
  const std::lock_guard lock(mutex_);
  if (!session->has_ended() && !is_gone())
    ended.is_full = send_packet(socket(), answer) == Transfer::kWouldBlock;
  secure::wipe(memory_.data(), used_);
  used_ = 0;
  long_output_.reset();
  is_busy_ = false;
  ended.channel = std::move(itself_);
  return ended;
}

void Channel::say_still_at_work() {
  const StillAtWork message{header_of<StillAtWork>(Kind::kStillAtWork)};
  const std::span<const uint8_t> pieces[] = {bytes_of(message)};
  const std::lock_guard lock(mutex_);
  // If the client reads none of these packets, its socket is full and the packet is dropped. The
  // session ends later, since the answer will not fit either.
  if (is_busy_ && request.kind == Kind::kRsaGenerate &&
      send_packet(socket(), pieces) == Transfer::kClosed)
    note_gone();
}

}  // namespace lanecrypt::service::daemon
