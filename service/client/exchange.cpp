// SPDX-License-Identifier: Apache-2.0
#include "service/client/exchange.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "service/client/wait_for.h"
#include "service/wire/packets.h"

namespace lanecrypt::client {

using service::Outcome;
using service::Transfer;

Exchange::State Exchange::end(Fault fault) {
  session_.end(fault);
  return State::kEnded;
}

Exchange::State Exchange::send(bool with_key) {
  KeyNumbers numbers;
  if (with_key && !key_.copy_numbers(numbers)) return State::kNoKey;
  size_t bytes = in_.size();
  service::RsaPrivate fixed{};
  fixed.key = key_.number();
  fixed.modulus_bytes = uint32_t(in_.size());
  std::span<const uint8_t> pieces[2 + service::kKeyParts];
  pieces[1] = in_;
  for (size_t n = 0; n < service::kKeyParts; ++n) {
    pieces[2 + n] = numbers.parts[n];
    fixed.part_bytes[n] = uint16_t(numbers.parts[n].size());
    bytes += numbers.parts[n].size();
  }
  fixed.header = service::header_of<service::RsaPrivate>(service::Kind::kRsaPrivate, bytes);
  pieces[0] = service::bytes_of(fixed);
  if (!channel_.socket.is_ours()) return end(Fault::kProgram);
  sent_key_ = with_key;
  if (with_key) key_.was_sent_in(session_);
  began_ = Clock::now().time_since_epoch().count();
  const size_t count = with_key ? std::size(pieces) : 2;
  switch (service::send_packet(channel_.socket.get(), {pieces, count})) {
    case Transfer::kDone:
      return State::kWaits;
    case Transfer::kWouldBlock:
      // A channel that has nothing under way has room: the kernel lacks memory.
      outcome_ = Outcome::kBusy;
      return State::kRefused;
    default:
      return end(Fault::kService);
  }
}

Exchange::State Exchange::receive(bool waits) {
  uint8_t buffer[sizeof(service::RsaResult) + service::kMostModulusBytes];
  if (!channel_.socket.is_ours()) return end(Fault::kProgram);
  const service::Received received = service::receive_packet(channel_.socket.get(), buffer, waits);
  if (received.transfer == Transfer::kWouldBlock) return State::kWaits;
  const auto result = service::read_private_result(received.packet, out_.size());
  if (received.transfer != Transfer::kDone || !result) return end(Fault::kService);
  outcome_ = result->outcome;
  if (outcome_ == Outcome::kUnknownKey && !sent_key_) {
    key_.is_unknown_in(session_);
    return send(true);
  }
  if (outcome_ == Outcome::kBadKey) key_.refuse();
  if (outcome_ != Outcome::kDone) return State::kRefused;
  std::memcpy(out_.data(), result->output.data(), out_.size());
  secure::wipe(buffer, sizeof buffer);
  key_.is_confirmed_in(session_);
  return State::kDone;
}

Exchange::State Exchange::wait() {
  constexpr std::chrono::seconds kSlice{1};
  // The first look is the wait itself, in one system call.
  State state = receive(true);
  while (state == State::kWaits) {
    const Clock::time_point now = Clock::now();
    const Clock::time_point limit{Clock::duration(began_) + kSilence};
    if (session_.has_ended()) return State::kEnded;
    // The program may close a channel unseen, so the wait is cut into slices.
    const bool is_ready = wait_for(channel_.socket.get(), std::min(limit, now + kSlice));
    state = receive(false);
    if (state == State::kWaits && !is_ready && Clock::now() >= limit) return end(Fault::kService);
  }
  return state;
}

}  // namespace lanecrypt::client
