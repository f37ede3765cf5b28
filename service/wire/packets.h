// Sends and receives packets on SOCK_SEQPACKET sockets, with or without descriptors.
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

// The result of an attempt to send or to receive.
enum class Transfer {
  kDone,
  kWouldBlock,  // nothing was sent, or no packet is there
  kClosed,      // the peer has gone or broke the protocol: the socket is unusable
};

// Sends one packet, the concatenation of `pieces`, without blocking. The kernel takes all of it or
// nothing. Duplicates of `descriptors` go with it; the caller keeps its own.
Transfer send_packet(int socket, std::span<const std::span<const uint8_t>> pieces,
                     std::span<const int> descriptors = {});

// A received packet, or why there is none. A packet that is longer than the buffer, or whose header
// has a wrong length or version, counts as kClosed, as does the end of the stream.
struct Received {
  Transfer transfer = Transfer::kClosed;
  std::span<const uint8_t> packet;
};
// Receives one packet into `buffer`. With `wait` it blocks for as long as the socket's SO_RCVTIMEO
// says, or until a signal arrives; then the result is kWouldBlock. Descriptors that come with the
// packet are dropped.
Received receive_packet(int socket, std::span<uint8_t> buffer, bool wait);
// Copies the first bytes of the next packet into `head` and leaves the packet in the socket.
// Returns those bytes.
Received peek_packet(int socket, std::span<uint8_t> head, bool wait);
// Receives one packet without blocking: its first bytes into `head`, the others into `rest`.
// Returns the bytes in `head`.
Received receive_in_parts(int socket, std::span<uint8_t> head, std::span<uint8_t> rest);
// As the first receive_packet(), and stores the descriptors that come with the packet,
// close-on-exec, in `descriptors`; `*count` is their number. The caller closes them. If more come
// than there is room for, all are closed and the result is kClosed.
Received receive_packet(int socket, std::span<uint8_t> buffer, bool wait,
                        std::span<int> descriptors, size_t *count);

// Whether the peer has closed its end, or has exited.
bool is_hung_up(int socket);

// Returns the fixed part of `packet` if it is of this kind and long enough. `*rest` is set to the
// bytes after the fixed part; if `rest` is nullptr, there must be none.
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

// Returns the header of a packet of a Message and `more` bytes.
template <class Message>
Header header_of(Kind kind, size_t more = 0) {
  return {kind, kVersion, uint32_t(sizeof(Message) + more)};
}

template <class Message>
std::span<const uint8_t> bytes_of(const Message &message) {
  return {reinterpret_cast<const uint8_t *>(&message), sizeof message};
}

}  // namespace lanecrypt::service
