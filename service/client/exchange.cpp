// SPDX-License-Identifier: Apache-2.0
#include "service/client/exchange.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "service/client/wait_for.h"
#include "service/wire/packets.h"
#include "service/wire/result.h"

namespace lanecrypt::client {

using service::Kind;
using service::Outcome;
using service::Transfer;

namespace {

// The fixed part of a request.
struct FixedPart {
  service::RsaPrivate rsa{};
  service::MlDsaSign ml_dsa{};

  // `more` bytes follow it.
  std::span<const uint8_t> fill(const Key &key, size_t in_bytes, const service::KeyParts &parts,
                                size_t more) {
    if (key.sort().family == service::Family::kMlDsa) {
      ml_dsa = {service::header_of<service::MlDsaSign>(Kind::kMlDsaSign, more), key.number(),
                key.sort().size, uint32_t(parts[service::kMlDsaKey].size())};
      return service::bytes_of(ml_dsa);
    }
    rsa.header = service::header_of<service::RsaPrivate>(Kind::kRsaPrivate, more);
    rsa.key = key.number();
    rsa.modulus_bytes = uint32_t(in_bytes);
    for (size_t n = 0; n < service::kKeyParts; ++n) rsa.part_bytes[n] = uint16_t(parts[n].size());
    return service::bytes_of(rsa);
  }
};

}  // namespace

Exchange::State Exchange::end(Fault fault) {
  session_.end(fault);
  return State::kEnded;
}

Exchange::State Exchange::send(bool with_key) {
  KeyNumbers numbers;
  if (with_key && !key_.copy_numbers(numbers)) return State::kNoKey;
  size_t bytes = in_.size();
  std::span<const uint8_t> pieces[2 + service::kKeyParts];
  pieces[1] = in_;
  for (size_t n = 0; n < service::kKeyParts; ++n) {
    pieces[2 + n] = numbers.parts[n];
    bytes += numbers.parts[n].size();
  }
  FixedPart fixed;
  pieces[0] = fixed.fill(key_, in_.size(), numbers.parts, bytes);
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
  uint8_t buffer[sizeof(service::Result) + service::kMostOutputBytes];
  if (!channel_.socket.is_ours()) return end(Fault::kProgram);
  const service::Received received = service::receive_packet(channel_.socket.get(), buffer, waits);
  if (received.transfer == Transfer::kWouldBlock) return State::kWaits;
  const auto result = service::read_result(received.packet, out_.size());
  if (received.transfer != Transfer::kDone || !result) return end(Fault::kService);
  outcome_ = result->outcome;
  if (outcome_ == Outcome::kUnknownKey && !sent_key_) {
    key_.is_unknown_in(session_);
    return send(true);
  }
  if (outcome_ == Outcome::kBadKey) key_.refuse();
  if (outcome_ != Outcome::kDone) return State::kRefused;
  std::memcpy(out_.data(), result->output.data(), out_.size());
  secure::wipe(buffer, received.packet.size());
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
