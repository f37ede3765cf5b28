// Packets over a socket of SOCK_SEQPACKET, with descriptors where a packet brings some.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "service/wire/messages.h"

namespace lanecrypt::service {

// What became of an attempt to send or to receive.
enum class Transfer {
  kDone,
  kWouldBlock,  // nothing was sent, or nothing is there
  kClosed,      // the other side has gone, or broke the protocol: the socket is of no more use
};

// Sends a packet made of these pieces, without waiting. The kernel takes all of it or none.
// `descriptors` go with it; the caller keeps his own.
Transfer send_packet(int socket, std::span<const std::span<const uint8_t>> pieces,
                     std::span<const int> descriptors = {});

// Receives one packet into `buffer`. One that is longer, or whose header does not give its
// length and version, counts as kClosed, and so does the end of the stream.
struct Received {
  Transfer transfer = Transfer::kClosed;
  std::span<const uint8_t> packet;
};
// With `wait` it waits for a packet as long as the socket's SO_RCVTIMEO says, or until a signal
// comes, then it is kWouldBlock. Descriptors that come unasked are not taken.
Received receive_packet(int socket, std::span<uint8_t> buffer, bool wait);
// The same of a packet that stays where it is: the beginning of it, as long as `head`, is given.
Received peek_packet(int socket, std::span<uint8_t> head, bool wait);
// Receives a packet that is there, the beginning into `head` and what is longer into `rest`. Gives
// the beginning.
Received receive_in_parts(int socket, std::span<uint8_t> head, std::span<uint8_t> rest);
// Receives a packet as the first does, and takes descriptors, close-on-exec, into `descriptors`:
// *count is how many came. If more came, all are closed and it is kClosed.
Received receive_packet(int socket, std::span<uint8_t> buffer, bool wait,
                        std::span<int> descriptors, size_t *count);

// Whether the other end is closed, or has gone with its process.
bool is_hung_up(int socket);

// The fixed part of a packet, if it is of this kind and long enough. What follows the fixed
// part is in `rest`.
template <class Message>
std::optional<Message> fixed_part(std::span<const uint8_t> packet, Kind kind,
                                  std::span<const uint8_t> *rest = nullptr) {
  Message message;
  if (packet.size() < sizeof message) return std::nullopt;
  std::memcpy(&message, packet.data(), sizeof message);
  if (message.header.kind != kind) return std::nullopt;
  if (rest != nullptr)
    *rest = packet.subspan(sizeof message);
  else if (packet.size() != sizeof message)
    return std::nullopt;
  return message;
}

// A header for a packet whose fixed part is a Message, with `more` bytes behind it.
template <class Message>
Header header_of(Kind kind, size_t more = 0) {
  return {kind, kVersion, uint32_t(sizeof(Message) + more)};
}

template <class Message>
std::span<const uint8_t> bytes_of(const Message &message) {
  return {reinterpret_cast<const uint8_t *>(&message), sizeof message};
}

}  // namespace lanecrypt::service
