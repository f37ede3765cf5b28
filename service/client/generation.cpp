// SPDX-License-Identifier: Apache-2.0
#include "service/client/generation.h"

#include <poll.h>

#include <algorithm>
#include <vector>

#include "secure/key_memory.h"
#include "service/wire/packets.h"

namespace lanecrypt::client {
namespace {

using service::Kind;
using service::Outcome;
using service::Transfer;

constexpr std::chrono::milliseconds kSlice{250};
// The time limit of one key, even if the service reports that it still searches.
constexpr std::chrono::minutes kMost{10};
// The most keys under way. The service searches for as many at once, shared among all clients.
constexpr size_t kMostAtOnce = 8;

// A key for which the service searches.
struct Search {
  Channel *channel = nullptr;
  Clock::time_point began = Clock::now(), heard = began;
};

class Generating {
 public:
  Generating(Connection &connection, Session &session, const NewKeys &wish)
      : connection_(connection), session_(session), wish_(wish) {}
  // Closes the channels of searches that are still under way: that tells the service to stop them.
  ~Generating() {
    for (const Search &search : searches_) session_.drop(search.channel);
  }
  Generating(const Generating &) = delete;

  Made run() {
    if (!memory_.ok(service::kMostPacketBytes)) return Made::kNot;
    while (made_ < wish_.count) {
      if (!send_more()) return Made::kFailed;
      if (searches_.empty()) return Made::kNot;
      await_news();
      for (size_t n = searches_.size(); n-- > 0;)
        if (!look_at(n)) return Made::kFailed;
      if (Clock::now() - told_ < kSlice || made_ == wish_.count) continue;
      told_ = Clock::now();
      if (!wish_.goes_on(wish_.argument)) return Made::kStopped;
    }
    return Made::kMade;
  }

 private:
  bool end(Fault fault) {
    session_.end(fault);
    return false;
  }

  bool send_more() {
    while (searches_.size() < std::min<uint64_t>(most_, wish_.count - made_)) {
      Channel *const channel = session_.take();
      if (channel == nullptr) {
        most_ = searches_.size();
        break;
      }
      searches_.push_back({channel});
      if (!send(*channel)) return false;
    }
    return true;
  }

  bool send(const Channel &channel) {
    const service::RsaGenerate fixed{
        service::header_of<service::RsaGenerate>(Kind::kRsaGenerate, wish_.exponent.size()),
        wish_.bits, uint32_t(wish_.exponent.size())};
    const std::span<const uint8_t> pieces[] = {service::bytes_of(fixed), wish_.exponent};
    if (!channel.socket.is_ours()) return end(Fault::kProgram);
    return service::send_packet(channel.socket.get(), pieces) == Transfer::kDone ||
           end(Fault::kService);
  }

  void await_news() const {
    pollfd polled[kMostAtOnce];
    for (size_t n = 0; n < searches_.size(); ++n)
      polled[n] = {searches_[n].channel->socket.get(), POLLIN, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(told_ + kSlice - Clock::now());
    (void)poll(polled, searches_.size(), int(std::clamp<int64_t>(left.count(), 0, 1000)));
  }

  // Receives what has come on a channel. Returns false if the generation must end.
  bool look_at(size_t number) {
    Search &search = searches_[number];
    const OwnDescriptor &socket = search.channel->socket;
    if (!socket.is_ours()) return end(Fault::kProgram);
    const service::Received received =
        service::receive_packet(socket.get(), {memory_.data(), service::kMostPacketBytes}, false);
    const Clock::time_point now = Clock::now();
    if (received.transfer == Transfer::kClosed) return end(Fault::kService);
    if (received.transfer == Transfer::kDone) {
      if (!service::fixed_part<service::StillAtWork>(received.packet, Kind::kStillAtWork))
        return conclude(number, received.packet);
      search.heard = now;
    }
    return (now - search.heard <= kSilence && now - search.began <= kMost) || end(Fault::kService);
  }

  bool conclude(size_t number, std::span<const uint8_t> packet) {
    const auto made = service::read_generated_key(packet);
    if (!made) return end(Fault::kService);
    connection_.note_answer();
    session_.give_back(searches_[number].channel);
    searches_.erase(searches_.begin() + ptrdiff_t(number));
    if (made->outcome == Outcome::kFailed) return false;
    if (made->outcome != Outcome::kDone) {
      // The service has room for no more keys than are under way now.
      most_ = searches_.size();
      return true;
    }
    ++made_;
    const bool is_right = wish_.take(wish_.argument, made->parts);
    secure::wipe(memory_.data(), packet.size());
    return is_right;
  }

  Connection &connection_;
  Session &session_;
  const NewKeys &wish_;
  secure::KeyMemory memory_{service::kMostPacketBytes};
  std::vector<Search> searches_;
  size_t most_ = kMostAtOnce;
  uint64_t made_ = 0;
  Clock::time_point told_ = Clock::now();
};

}  // namespace

Made generate(Connection &connection, const NewKeys &wish) {
  const std::shared_ptr<Session> session = connection.session();
  if (session == nullptr) return Made::kNot;
  const Made made = Generating(connection, *session, wish).run();
  // Makes the connection notice the end of the session now, so that the loss is logged now.
  (void)connection.session();
  return made;
}

}  // namespace lanecrypt::client
