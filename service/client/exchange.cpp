// SPDX-License-Identifier: Apache-2.0
#include "service/client/exchange.h"

#include <algorithm>
#include <iterator>

#include "service/client/wait_for.h"
#include "service/wire/packets.h"
#include "service/wire/result.h"
#include "service/wire/sign_packets.h"

namespace lanecrypt::client {

using service::Kind;
using service::Outcome;
using service::Transfer;

namespace {

// The fixed part of a request, for RSA or for a signature.
struct FixedPart {
  service::RsaPrivate rsa{};
  service::Sign sign{};

  // Fills in the fixed part and returns its bytes. `more` bytes will follow it in the packet.
  std::span<const uint8_t> fill(const Key &key, size_t in_bytes, const service::KeyParts &parts,
                                size_t more) {
    if (key.operation_kind().family != service::Family::kRsa) {
      const Kind kind = service::kind_of_signature(key.operation_kind().family);
      sign = {service::header_of<service::Sign>(kind, more), key.number(),
              key.operation_kind().size, uint32_t(parts[service::kWholeKey].size())};
      return service::bytes_of(sign);
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
      // A channel without a request under way always has room, so the kernel is out of memory.
      outcome_ = Outcome::kBusy;
      return State::kRefused;
    default:
      return end(Fault::kService);
  }
}

Transfer Exchange::receive_short(bool waits) {
  uint8_t buffer[sizeof(service::Result) + service::kMostShortOutputBytes];
  const service::Received received = service::receive_packet(channel_.socket.get(), buffer, waits);
  if (received.transfer != Transfer::kDone) return received.transfer;
  const auto result = service::read_result(received.packet, out_.size());
  if (!result) return Transfer::kClosed;
  outcome_ = result->outcome;
  std::copy(result->output.begin(), result->output.end(), out_.begin());
  secure::wipe(buffer, received.packet.size());
  return Transfer::kDone;
}

// Receives an answer with a long output straight into `out_`: the stack may be that of an ASYNC
// job, which is small. The head of the answer is checked first, so that only an output of the right
// length is written there.
Transfer Exchange::receive_long(bool waits) {
  uint8_t head[sizeof(service::Result)];
  const service::Received seen = service::peek_packet(channel_.socket.get(), head, waits);
  if (seen.transfer != Transfer::kDone) return seen.transfer;
  const auto result = service::fixed_part<service::Result>(seen.packet, Kind::kResult);
  if (!result || !service::is_known(result->outcome)) return Transfer::kClosed;
  const size_t bytes = result->outcome == Outcome::kDone ? out_.size() : 0;
  if (result->output_bytes != bytes || result->header.bytes != sizeof head + bytes)
    return Transfer::kClosed;
  outcome_ = result->outcome;
  // Only this thread receives from the channel, so the packet is still the one that was checked.
  return service::receive_in_parts(channel_.socket.get(), head, out_.first(bytes)).transfer ==
                 Transfer::kDone
             ? Transfer::kDone
             : Transfer::kClosed;
}

Transfer Exchange::receive_answer(bool waits) {
  return out_.size() > service::kMostShortOutputBytes ? receive_long(waits) : receive_short(waits);
}

Exchange::State Exchange::receive(bool waits) {
  if (!channel_.socket.is_ours()) return end(Fault::kProgram);
  const Transfer transfer = receive_answer(waits);
  if (transfer == Transfer::kWouldBlock) return State::kWaits;
  if (transfer != Transfer::kDone) return end(Fault::kService);
  if (outcome_ == Outcome::kUnknownKey && !sent_key_) {
    key_.is_unknown_in(session_);
    return send(true);
  }
  if (outcome_ == Outcome::kBadKey) key_.refuse();
  if (outcome_ != Outcome::kDone) return State::kRefused;
  key_.is_confirmed_in(session_);
  return State::kDone;
}

Exchange::State Exchange::wait() {
  constexpr std::chrono::seconds kSlice{1};
  // The first receive() blocks, so that the usual case takes one system call.
  State state = receive(true);
  while (state == State::kWaits) {
    const Clock::time_point now = Clock::now();
    const Clock::time_point limit{Clock::duration(began_) + kSilence};
    if (session_.has_ended()) return State::kEnded;
    // The program may have closed the channel, so the wait is cut into slices.
    const bool is_ready = wait_for(channel_.socket.get(), std::min(limit, now + kSlice));
    state = receive(false);
    if (state == State::kWaits && !is_ready && Clock::now() >= limit) return end(Fault::kService);
  }
  return state;
}

}  // namespace lanecrypt::client
