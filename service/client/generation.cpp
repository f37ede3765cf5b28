// SPDX-License-Identifier: Apache-2.0
#include "service/client/generation.h"

#include "secure/key_memory.h"
#include "service/client/wait_for.h"
#include "service/wire/packets.h"

namespace lanecrypt::client {
namespace {

using service::Kind;
using service::Outcome;
using service::Transfer;

constexpr std::chrono::milliseconds kSlice{250};
// No key takes so long, whatever the service says.
constexpr std::chrono::minutes kMost{10};

// A generation on its channel.
class Generating {
 public:
  Generating(Connection &connection, Session &session, Channel &channel, const NewKey &wish)
      : connection_(connection), session_(session), channel_(channel), wish_(wish) {}

  Made run() {
    secure::KeyMemory memory(service::kMostPacketBytes);
    if (!memory.ok(service::kMostPacketBytes)) return Made::kNot;
    if (!send()) return Made::kFailed;
    for (;;) {
      const Clock::time_point next_look = Clock::now() + kSlice;
      const bool is_ready = wait_for(channel_.socket.get(), next_look);
      if (!channel_.socket.is_ours()) return end(Fault::kProgram);
      const service::Received received = service::receive_packet(
          channel_.socket.get(), {memory.data(), service::kMostPacketBytes}, false);
      if (received.transfer == Transfer::kClosed) return end(Fault::kService);
      if (received.transfer == Transfer::kDone && !is_still_at_work(received.packet))
        return conclude(received.packet);
      if (!is_ready && Clock::now() - heard_ > kSilence) return end(Fault::kService);
      if (Clock::now() - began_ > kMost) return end(Fault::kService);
      if (Clock::now() - told_ < kSlice) continue;
      told_ = Clock::now();
      if (!wish_.goes_on(wish_.argument)) return Made::kStopped;
    }
  }

 private:
  Made end(Fault fault) {
    session_.end(fault);
    return Made::kFailed;
  }

  bool send() {
    const service::RsaGenerate fixed{
        service::header_of<service::RsaGenerate>(Kind::kRsaGenerate, wish_.exponent.size()),
        wish_.bits, uint32_t(wish_.exponent.size())};
    const std::span<const uint8_t> pieces[] = {service::bytes_of(fixed), wish_.exponent};
    if (!channel_.socket.is_ours()) {
      session_.end(Fault::kProgram);
      return false;
    }
    if (service::send_packet(channel_.socket.get(), pieces) == Transfer::kDone) return true;
    session_.end(Fault::kService);
    return false;
  }

  bool is_still_at_work(std::span<const uint8_t> packet) {
    if (!service::fixed_part<service::StillAtWork>(packet, Kind::kStillAtWork)) return false;
    heard_ = Clock::now();
    return true;
  }

  Made conclude(std::span<const uint8_t> packet) {
    const auto made = service::read_generated_key(packet);
    if (!made) return end(Fault::kService);
    connection_.note_answer();
    if (made->outcome != Outcome::kDone)
      return made->outcome == Outcome::kFailed ? Made::kFailed : Made::kNot;
    return wish_.take(wish_.argument, made->parts) ? Made::kMade : Made::kFailed;
  }

  Connection &connection_;
  Session &session_;
  Channel &channel_;
  const NewKey &wish_;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point heard_ = began_, told_ = began_;
};

}  // namespace

Made generate(Connection &connection, const NewKey &wish) {
  const std::shared_ptr<Session> session = connection.session();
  Channel *const channel = session == nullptr ? nullptr : session->take();
  if (channel == nullptr) return Made::kNot;
  const Made made = Generating(connection, *session, *channel, wish).run();
  // Where it was stopped, the service learns that by the end of the channel.
  if (made == Made::kStopped || session->has_ended())
    session->drop(channel);
  else
    session->give_back(channel);
  (void)connection.session();
  return made;
}

}  // namespace lanecrypt::client
