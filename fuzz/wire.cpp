// Fuzzes the functions that parse packets, and the sockets. For any input, the returned spans must
// lie in the packet and have the lengths of the protocol, and a socket must receive what was sent.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "fuzz/script.h"
#include "service/wire/packets.h"
#include "service/wire/result.h"
#include "service/wire/rsa_packets.h"
#include "service/wire/sign_packets.h"

namespace {

using namespace lanecrypt::service;
using lanecrypt::fuzz::require;
using lanecrypt::fuzz::Script;
using Bytes = std::span<const uint8_t>;

bool lies_in(Bytes part, Bytes whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

size_t sum_of(const KeyParts &parts, Bytes packet) {
  size_t sum = 0;
  for (const Bytes part : parts) {
    require(lies_in(part, packet) && part.size() <= kMostModulusBytes);
    sum += part.size();
  }
  return sum;
}

void read_requests(Bytes packet) {
  if (const auto request = read_private_request(packet)) {
    size_t bytes = sizeof(RsaPrivate) + request->input.size();
    require(request->key != 0 && lies_in(request->input, packet));
    require(request->input.size() >= kLeastModulusBytes &&
            request->input.size() <= kMostModulusBytes);
    if (request->parts) {
      bytes += sum_of(*request->parts, packet);
      require((*request->parts)[kN].size() == request->input.size());
      require((*request->parts)[kD].empty());
      for (size_t n = 0; n < kD; ++n) require(!(*request->parts)[n].empty());
    }
    require(bytes == packet.size());
  }
  if (const auto request = read_sign_request(packet)) {
    require(request->key != 0 && request->set != nullptr);
    require(lies_in(request->input, packet) && request->input.size() == request->set->input_bytes);
    require(lies_in(request->private_key, packet));
    require(request->private_key.empty() || request->private_key.size() == request->set->key_bytes);
    require(sizeof(Sign) + request->input.size() + request->private_key.size() == packet.size());
  }
  if (const auto request = read_generate_request(packet)) {
    require(lies_in(request->exponent, packet) && !request->exponent.empty());
    require(sizeof(RsaGenerate) + request->exponent.size() == packet.size());
    require(request->bits >= 1024 && request->bits <= 8192 && request->bits % 2 == 0);
  }
}

void read_answers(Bytes packet) {
  for (const size_t bytes : {kLeastModulusBytes, size_t{256}, kMostModulusBytes, size_t{2420},
                             size_t{3309}, kMostShortOutputBytes, size_t{7856}}) {
    const auto result = read_result(packet, bytes);
    if (!result) continue;
    require(lies_in(result->output, packet));
    require(result->output.size() == (result->outcome == Outcome::kDone ? bytes : 0));
  }
  if (const auto key = read_generated_key(packet)) {
    require(sizeof(RsaKeyMade) + sum_of(key->parts, packet) == packet.size());
    for (const Bytes part : key->parts) require(part.empty() == (key->outcome != Outcome::kDone));
  }
}

// Returns the lowest free descriptor number.
int free_number(int file) {
  const int number = dup(file);
  close(number);
  return number;
}

// Sends a packet with `descriptors` descriptors of one file, and receives it with room for `room`
// of them.
void pass_through(Bytes packet, size_t descriptors, size_t room) {
  int pair[2];
  static const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int first_free = free_number(file);
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) abort();
  const std::vector<int> sent(descriptors, file);
  const Bytes pieces[] = {packet.first(packet.size() / 2), packet.subspan(packet.size() / 2)};
  // The packet is not empty, since a control message needs at least one byte with it.
  require(send_packet(pair[0], pieces, sent) == Transfer::kDone);
  std::vector<uint8_t> buffer(4096);
  std::vector<int> came(room);
  size_t count = 0;
  const Received received = room == 0 ? receive_packet(pair[1], buffer, false)
                                      : receive_packet(pair[1], buffer, false, came, &count);
  Header header{};
  std::memcpy(&header, packet.data(), std::min(packet.size(), sizeof header));
  const bool is_right = packet.size() >= sizeof header && packet.size() <= buffer.size() &&
                        header.version == kVersion && header.bytes == packet.size() &&
                        (room == 0 || descriptors <= room);
  require((received.transfer == Transfer::kDone) == is_right);
  require(count == (is_right && room != 0 ? descriptors : 0));
  if (is_right)
    require(
        std::equal(packet.begin(), packet.end(), received.packet.begin(), received.packet.end()));
  for (size_t n = 0; n < count; ++n) close(came[n]);
  close(pair[0]);
  close(pair[1]);
  require(free_number(file) == first_free);  // no descriptor has leaked
}

// Sends a packet, peeks at its first bytes, and receives it in two parts.
void pass_in_parts(Bytes packet) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) abort();
  const Bytes pieces[] = {packet};
  require(send_packet(pair[0], pieces) == Transfer::kDone);
  uint8_t head[sizeof(Result)], rest[300] = {};
  Header header{};
  std::memcpy(&header, packet.data(), std::min(packet.size(), sizeof header));
  const bool is_right =
      packet.size() >= sizeof header && header.version == kVersion && header.bytes == packet.size();
  const size_t head_bytes = std::min(packet.size(), sizeof head);
  const auto has_head = [&](const Received &received) {
    return received.packet.size() == head_bytes &&
           std::equal(received.packet.begin(), received.packet.end(), packet.begin());
  };
  const Received seen = peek_packet(pair[1], head, false);
  require((seen.transfer == Transfer::kDone) == is_right && (!is_right || has_head(seen)));
  std::memset(head, 0, sizeof head);
  const Received whole = receive_in_parts(pair[1], head, rest);
  const bool fits = packet.size() <= sizeof head + sizeof rest;
  require((whole.transfer == Transfer::kDone) == (is_right && fits));
  if (is_right && fits)
    require(has_head(whole) &&
            std::equal(packet.begin() + std::ptrdiff_t(head_bytes), packet.end(), rest));
  require(receive_packet(pair[1], head, false).transfer == Transfer::kWouldBlock);
  close(pair[0]);
  close(pair[1]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Script script(data, size);
  const size_t descriptors = script.byte() % 8, room = script.byte() % 6;
  const Bytes rest = script.bytes(kMostPacketBytes);
  // Copies the packet to its own allocation, so that AddressSanitizer sees reads behind its end.
  const std::unique_ptr<uint8_t[]> copy(new uint8_t[rest.size()]);
  std::copy(rest.begin(), rest.end(), copy.get());
  const Bytes packet(copy.get(), rest.size());
  read_requests(packet);
  read_answers(packet);
  Bytes text;
  (void)fixed_part<Welcome>(packet, Kind::kWelcome);
  (void)fixed_part<Channels>(packet, Kind::kChannels);
  if (fixed_part<Text>(packet, Kind::kText, &text)) require(lies_in(text, packet));
  if (!packet.empty()) pass_through(packet, descriptors, room);
  if (!packet.empty()) pass_in_parts(packet);
  return 0;
}
