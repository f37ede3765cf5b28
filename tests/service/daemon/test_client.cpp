// SPDX-License-Identifier: Apache-2.0
#include "test_client.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include "service/wire/packets.h"
#include "service/wire/rsa_packets.h"
#include "service/wire/sign_packets.h"

namespace lanecrypt::service::test {

Socket::Socket(int number) : number_(number) {
  const timeval patience{60, 0};
  (void)setsockopt(number_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

Socket::Socket(Socket &&other) noexcept : number_(std::exchange(other.number_, -1)) {}

Socket &Socket::operator=(Socket &&other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

void Socket::close() {
  if (number_ >= 0) (void)::close(std::exchange(number_, -1));
}

bool Socket::send(std::span<const uint8_t> packet) const {
  const std::span<const uint8_t> pieces[] = {packet};
  // send_packet() adds nothing to the packet.
  return send_packet(number_, pieces) == Transfer::kDone;
}

std::optional<Bytes> Socket::receive(std::vector<int> *descriptors) const {
  // The sockets are non-blocking.
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::vector<uint8_t> buffer(sizeof(Result) + kMostOutputBytes);
  int numbers[kMostChannelsAtOnce];
  size_t count = 0;
  Received received;
  do {
    received = receive_packet(number_, buffer, true, numbers, &count);
    if (received.transfer == Transfer::kWouldBlock)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (received.transfer == Transfer::kWouldBlock && std::chrono::steady_clock::now() < end);
  EXPECT_NE(Transfer::kWouldBlock, received.transfer) << "no answer";
  if (received.transfer != Transfer::kDone) return std::nullopt;
  for (size_t n = 0; n < count; ++n) {
    if (descriptors != nullptr)
      descriptors->push_back(numbers[n]);
    else
      (void)::close(numbers[n]);
  }
  return Bytes(received.packet.begin(), received.packet.end());
}

Bytes private_request(uint64_t number, const TestKey &key, const Bytes &input, bool with_key) {
  RsaPrivate fixed{};
  fixed.key = number;
  fixed.modulus_bytes = uint32_t(input.size());
  Bytes rest = input;
  if (with_key) {
    const Bytes *const parts[] = {&key.n, &key.e, &key.p, &key.q, &key.dp, &key.dq, &key.qinv};
    for (size_t n = 0; n < kD; ++n) {
      fixed.part_bytes[n] = uint16_t(parts[n]->size());
      rest.insert(rest.end(), parts[n]->begin(), parts[n]->end());
    }
  }
  return packet(Kind::kRsaPrivate, fixed, rest);
}

Bytes sign_request(uint64_t number, const OperationKind &set, const Bytes &input,
                   const Bytes &key) {
  Bytes rest = input;
  rest.insert(rest.end(), key.begin(), key.end());
  return packet(kind_of_signature(set.family), Sign{{}, number, set.size, uint32_t(key.size())},
                rest);
}

TestClient::TestClient(const std::string &path) {
  control = Socket(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (connect(control.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0)
    throw std::runtime_error("nobody listens at " + path);
}

Outcome TestClient::hello() {
  // A client that is refused at once may find the socket closed already.
  (void)control.send(packet(Kind::kHello, Hello{}));
  std::vector<int> descriptors;
  const std::optional<Bytes> answer = control.receive(&descriptors);
  if (!answer) return Outcome::kFailed;
  if (const auto refused = fixed_part<Refused>(*answer, Kind::kRefused)) return refused->outcome;
  if (!fixed_part<Welcome>(*answer, Kind::kWelcome) || descriptors.size() != 1)
    return Outcome::kFailed;
  page_descriptor_ = Socket(descriptors[0]);
  void *const mapped = mmap(nullptr, kStatusPageBytes, PROT_READ, MAP_SHARED, descriptors[0], 0);
  if (mapped == MAP_FAILED) return Outcome::kFailed;
  page_ = static_cast<const StatusPage *>(mapped);
  return Outcome::kDone;
}

std::vector<Socket> TestClient::open_channels(uint32_t count) {
  std::vector<Socket> channels;
  if (!control.send(packet(Kind::kOpenChannels, OpenChannels{{}, count, 0}))) return channels;
  std::vector<int> descriptors;
  const std::optional<Bytes> answer = control.receive(&descriptors);
  for (const int number : descriptors) channels.emplace_back(number);
  if (!answer) return channels;
  if (const auto made = fixed_part<Channels>(*answer, Kind::kChannels)) {
    EXPECT_EQ(made->count, channels.size());
  }
  return channels;
}

nlohmann::json TestClient::statistics() {
  if (!control.send(packet(Kind::kStatistics, Statistics{}))) return nullptr;
  std::string text;
  while (true) {
    const std::optional<Bytes> piece = control.receive();
    if (!piece) return nullptr;
    std::span<const uint8_t> rest;
    const auto head = fixed_part<Text>(*piece, Kind::kText, &rest);
    if (!head || head->text_bytes != rest.size()) return nullptr;
    text.append(rest.begin(), rest.end());
    if (head->is_last != 0) return nlohmann::json::parse(text);
  }
}

nlohmann::json TestClient::kind(const std::string &name) {
  const nlohmann::json told = statistics();
  for (const nlohmann::json &kind : told["kinds"])
    if (kind["kind"] == name) return kind;
  return nullptr;
}

TestClient connected(const std::string &path) {
  TestClient client(path);
  if (client.hello() != Outcome::kDone) throw std::runtime_error("not welcome at " + path);
  return client;
}

Answer answer_of(const Socket &channel) {
  const std::optional<Bytes> packet = channel.receive();
  EXPECT_TRUE(packet) << "the channel is closed";
  if (!packet) return {};
  std::span<const uint8_t> rest;
  const auto fixed = fixed_part<Result>(*packet, Kind::kResult, &rest);
  EXPECT_TRUE(fixed) << "no result";
  if (!fixed) return {};
  EXPECT_EQ(rest.size(), fixed->output_bytes);
  return {fixed->outcome, Bytes(rest.begin(), rest.end())};
}

Answer ask(const Socket &channel, uint64_t number, const TestKey &key, const Bytes &input,
           bool with_key) {
  EXPECT_TRUE(channel.send(private_request(number, key, input, with_key)));
  return answer_of(channel);
}

bool comes_true(const std::function<bool()> &what) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!what()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace lanecrypt::service::test
