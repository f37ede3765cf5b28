// Handles the packets on control sockets.
//
// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <vector>

#include "service/daemon/client/requests.h"
#include "service/daemon/limits.h"
#include "service/daemon/service.h"

namespace lanecrypt::service::daemon {
namespace {

bool send(int control, std::span<const std::span<const uint8_t>> pieces,
          std::span<const int> descriptors = {}) {
  return send_packet(control, pieces, descriptors) == Transfer::kDone;
}

}  // namespace

bool refuse(int control, Outcome outcome) {
  const Refused answer{header_of<Refused>(Kind::kRefused), outcome, 0};
  const std::span<const uint8_t> pieces[] = {bytes_of(answer)};
  return send(control, pieces);
}

bool ControlPackets::handle(Service &service, Session &session, std::span<const uint8_t> packet) {
  if (fixed_part<Hello>(packet, Kind::kHello)) return welcome(service, session);
  if (!session.said_hello) return false;
  if (const auto wanted = fixed_part<OpenChannels>(packet, Kind::kOpenChannels)) {
    if (wanted->reserved != 0 || wanted->count == 0 || wanted->count > kMostChannelsAtOnce)
      return false;
    return open_channels(service, session, wanted->count);
  }
  if (const auto forgotten = fixed_part<ForgetKey>(packet, Kind::kForgetKey)) {
    session.forget_key(forgotten->key);
    return true;
  }
  if (fixed_part<LookAgain>(packet, Kind::kLookAgain)) {
    look_again();
    return true;
  }
  if (fixed_part<Statistics>(packet, Kind::kStatistics)) return send_report(session);
  return false;
}

bool ControlPackets::welcome(Service &service, Session &session) {
  if (session.said_hello) return false;
  session.said_hello = true;
  const Welcome answer{header_of<Welcome>(Kind::kWelcome), uint32_t(kMostChannelsOfSession),
                       uint32_t(kMostKeysOfSession)};
  const std::span<const uint8_t> pieces[] = {bytes_of(answer)};
  const int page[] = {service.page.descriptor()};
  return send(session.control(), pieces, page);
}

bool ControlPackets::open_channels(Service &service, Session &session, uint32_t count) {
  std::vector<std::shared_ptr<Channel>> channels;
  std::vector<Descriptor> theirs;
  const size_t most = std::min<size_t>(count, session.room_for_channels());
  while (channels.size() < most) {
    Quota of_user(session.user->channels, kMostChannelsOfUser);
    DescriptorQuota descriptor = service.take_descriptors(*session.user, 1);
    int pair[2];
    if (!of_user.ok() || !descriptor.ok() ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
      break;
    Descriptor ours(pair[0]);
    (void)setsockopt(ours.get(), SOL_SOCKET, SO_SNDBUF, &kChannelSendBytes,
                     sizeof kChannelSendBytes);
    theirs.emplace_back(pair[1]);
    channels.push_back(std::make_shared<Channel>(session.shared_from_this(), std::move(ours),
                                                 std::move(of_user), std::move(descriptor),
                                                 service.counters));
  }
  if (channels.empty()) return refuse(session.control(), Outcome::kBusy);
  for (const std::shared_ptr<Channel> &channel : channels) {
    if (!service.channel_threads.add(channel)) return false;
    if (session.add(channel)) continue;
    service.channel_threads.remove(*channel);
    return false;
  }
  const Channels answer{header_of<Channels>(Kind::kChannels), uint32_t(channels.size()), 0};
  const std::span<const uint8_t> pieces[] = {bytes_of(answer)};
  std::vector<int> numbers;
  for (const Descriptor &their : theirs) numbers.push_back(their.get());
  return send(session.control(), pieces, numbers);
}

// Sends the report in pieces. The socket of a client that reads has room for all of them.
bool ControlPackets::send_report(Session &session) {
  const std::optional<std::string> asked = report(session);
  if (!asked) return refuse(session.control(), Outcome::kBusy);
  const std::string &text = *asked;
  constexpr size_t kPiece = kMostPacketBytes - sizeof(Text);
  for (size_t at = 0;; at += kPiece) {
    const size_t bytes = std::min(kPiece, text.size() - at);
    const bool is_last = at + bytes == text.size();
    const Text head{header_of<Text>(Kind::kText, bytes), is_last ? 1u : 0u, uint32_t(bytes)};
    const std::span<const uint8_t> pieces[] = {
        bytes_of(head), {reinterpret_cast<const uint8_t *>(text.data()) + at, bytes}};
    if (!send(session.control(), pieces)) return false;
    if (is_last) return true;
  }
}

}  // namespace lanecrypt::service::daemon
