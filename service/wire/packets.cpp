// SPDX-License-Identifier: Apache-2.0
#include "service/wire/packets.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

namespace lanecrypt::service {
namespace {

constexpr size_t kMostPieces = 16;
constexpr size_t kMostDescriptors = kMostChannelsAtOnce;

bool would_block(int error) {
  // ENOBUFS and ENOMEM: the kernel has no memory for the packet now.
  return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS || error == ENOMEM;
}

void close_all(std::span<const int> descriptors) {
  for (const int descriptor : descriptors) (void)close(descriptor);
}

// Receives one packet: its first bytes into `head`, the others into `rest`. With `peeks` the packet
// stays in the socket, and only `head` is filled.
Received receive(int socket, std::span<uint8_t> head, std::span<uint8_t> rest, bool wait,
                 bool peeks, msghdr &message) {
  iovec into[] = {{head.data(), head.size()}, {rest.data(), rest.size()}};
  message.msg_iov = into;
  message.msg_iovlen = rest.empty() ? 1 : 2;
  const int flags =
      (wait ? 0 : MSG_DONTWAIT) | MSG_CMSG_CLOEXEC | (peeks ? MSG_PEEK | MSG_TRUNC : 0);
  ssize_t bytes;
  do {
    bytes = recvmsg(socket, &message, flags);
    // A blocking receive is not restarted after a signal: with regular signals it might never time
    // out.
  } while (bytes < 0 && errno == EINTR && !wait);
  if (bytes < 0) {
    message.msg_controllen = 0;
    const bool nothing_came = would_block(errno) || errno == EINTR;
    return {nothing_came ? Transfer::kWouldBlock : Transfer::kClosed, {}};
  }
  Header header;
  if (size_t(bytes) < sizeof header || (!peeks && (message.msg_flags & MSG_TRUNC) != 0)) return {};
  std::memcpy(&header, head.data(), sizeof header);
  if (header.version != kVersion || header.bytes != size_t(bytes)) return {};
  return {Transfer::kDone, head.first(std::min(head.size(), size_t(bytes)))};
}

}  // namespace

Transfer send_packet(int socket, std::span<const std::span<const uint8_t>> pieces,
                     std::span<const int> descriptors) {
  iovec parts[kMostPieces];
  if (pieces.size() > kMostPieces || descriptors.size() > kMostDescriptors)
    return Transfer::kClosed;
  std::transform(pieces.begin(), pieces.end(), parts, [](std::span<const uint8_t> piece) {
    return iovec{const_cast<uint8_t *>(piece.data()), piece.size()};
  });
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = pieces.size();
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
  if (!descriptors.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr *const with = CMSG_FIRSTHDR(&message);
    with->cmsg_level = SOL_SOCKET;
    with->cmsg_type = SCM_RIGHTS;
    with->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(with), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent;
  do {
    sent = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) return Transfer::kDone;
  return would_block(errno) ? Transfer::kWouldBlock : Transfer::kClosed;
}

Received receive_packet(int socket, std::span<uint8_t> buffer, bool wait) {
  // Without a buffer for control messages the kernel drops descriptors that come with the packet.
  msghdr message{};
  return receive(socket, buffer, {}, wait, false, message);
}

Received peek_packet(int socket, std::span<uint8_t> head, bool wait) {
  msghdr message{};
  return receive(socket, head, {}, wait, true, message);
}

Received receive_in_parts(int socket, std::span<uint8_t> head, std::span<uint8_t> rest) {
  msghdr message{};
  return receive(socket, head, rest, false, false, message);
}

Received receive_packet(int socket, std::span<uint8_t> buffer, bool wait,
                        std::span<int> descriptors, size_t *count) {
  *count = 0;
  msghdr message{};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))];
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  Received received = receive(socket, buffer, {}, wait, false, message);
  bool fits = (message.msg_flags & MSG_CTRUNC) == 0;
  // The descriptors of an invalid packet are taken too: the kernel has installed them already, so
  // this process must close them.
  for (cmsghdr *with = CMSG_FIRSTHDR(&message); with != nullptr;
       with = CMSG_NXTHDR(&message, with)) {
    if (with->cmsg_level != SOL_SOCKET || with->cmsg_type != SCM_RIGHTS) continue;
    const size_t came = (with->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t n = 0; n < came; ++n) {
      int descriptor;
      std::memcpy(&descriptor, CMSG_DATA(with) + n * sizeof descriptor, sizeof descriptor);
      if (*count < descriptors.size()) {
        descriptors[(*count)++] = descriptor;
      } else {
        fits = false;
        (void)close(descriptor);
      }
    }
  }
  if (received.transfer == Transfer::kDone && !fits) received = {};
  if (received.transfer != Transfer::kDone) {
    close_all(descriptors.first(*count));
    *count = 0;
  }
  return received;
}

bool is_hung_up(int socket) {
  pollfd other{socket, POLLRDHUP, 0};
  return poll(&other, 1, 0) != 0;
}

}  // namespace lanecrypt::service
