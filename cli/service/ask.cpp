// SPDX-License-Identifier: Apache-2.0
#include "cli/service/ask.h"

#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>
#include <vector>

#include "cli/failure.h"
#include "cli/io/file_descriptor.h"
#include "service/wire/packets.h"

namespace lanecrypt::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kMachineSocket[] = "/run/lanecrypt/socket";
constexpr std::chrono::seconds kMostTime{5};
constexpr size_t kMostTextBytes = size_t{4} << 20;

class Conversation {
 public:
  explicit Conversation(const std::string &socket)
      : name_(socket), socket_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    if (!socket_) throw_errno("cannot make a socket", errno);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket.empty()) throw Failure(ExitCode::kUsage, "the socket has an empty name");
    if (socket.size() >= sizeof address.sun_path)
      throw Failure(ExitCode::kUsage, fmt::format("the path {} is too long for a socket", socket));
    std::memcpy(address.sun_path, socket.data(), socket.size());
    // Limits the time of connect(), which blocks while a service accepts no connections.
    const timeval limit{kMostTime.count(), 0};
    (void)setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(socket_.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0)
      cannot_connect(errno);
  }

  template <class Message>
  void send(service::Kind kind) {
    const Message message{service::header_of<Message>(kind)};
    const std::span<const uint8_t> piece = service::bytes_of(message);
    // If the service has closed the connection, receive() reports why.
    (void)service::send_packet(socket_.get(), {&piece, 1});
  }

  // Returns the next packet, which is valid until the next call. Throws Failure if the service
  // refuses, closes the connection or does not answer in time. `if_ended` is the message for a
  // closed connection.
  std::span<const uint8_t> receive(const char *if_ended = "ended the conversation") {
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now());
      pollfd event{socket_.get(), POLLIN, 0};
      if (left.count() <= 0 || poll(&event, 1, int(left.count())) == 0)
        fail("did not answer within {} seconds", kMostTime.count());
      // Accepts no descriptors.
      errno = 0;
      service::Received received = service::receive_packet(socket_.get(), buffer_, false);
      // A service that refuses a client closes the connection without reading what the client sent.
      // The kernel reports that first (ECONNRESET), and then delivers what the service sent.
      if (received.transfer == service::Transfer::kClosed && errno == ECONNRESET)
        received = service::receive_packet(socket_.get(), buffer_, false);
      if (received.transfer == service::Transfer::kClosed) fail("{}", if_ended);
      if (received.transfer == service::Transfer::kDone) return look(received.packet);
    }
  }

  template <typename... Words>
  [[noreturn]] void fail(fmt::format_string<Words...> what, Words &&...words) const {
    throw Failure(ExitCode::kFailed, fmt::format("the service at {} {}", name_,
                                                 fmt::format(what, std::forward<Words>(words)...)));
  }

 private:
  [[noreturn]] void cannot_connect(int error) const {
    if (error == ENOENT || error == ECONNREFUSED || error == ENOTDIR)
      throw Failure(ExitCode::kNoService, fmt::format("no service listens at {}", name_));
    if (error == EAGAIN) fail("did not answer within {} seconds", kMostTime.count());
    if (error == EACCES || error == EPERM) not_allowed();
    throw_errno("cannot connect to " + name_, error);
  }
  [[noreturn]] void not_allowed() const {
    fail("does not let this user in (members of its group may connect)");
  }

  std::span<const uint8_t> look(std::span<const uint8_t> packet) const {
    const auto refused = service::fixed_part<service::Refused>(packet, service::Kind::kRefused);
    if (!refused) return packet;
    if (refused->outcome == service::Outcome::kNotAllowed) not_allowed();
    if (refused->outcome == service::Outcome::kBusy)
      fail("has too many clients, or was asked too often");
    fail("refused to answer");
  }

  std::string name_;
  FileDescriptor socket_;
  Clock::time_point end_ = Clock::now() + kMostTime;
  std::vector<uint8_t> buffer_ = std::vector<uint8_t>(service::kMostPacketBytes);
};

}  // namespace

std::string usual_socket() {
  const char *const runtime = secure_getenv("XDG_RUNTIME_DIR");
  if (access(kMachineSocket, F_OK) == 0 || runtime == nullptr || runtime[0] != '/')
    return kMachineSocket;
  const std::string own = fmt::format("{}/lanecrypt/socket", runtime);
  return access(own.c_str(), F_OK) == 0 ? own : kMachineSocket;
}

std::string ask_for_statistics(const std::string &socket) {
  Conversation with(socket);
  with.send<service::Hello>(service::Kind::kHello);
  if (!service::fixed_part<service::Welcome>(
          with.receive("ended the conversation: it may have another version than this command"),
          service::Kind::kWelcome))
    with.fail("does not keep to the protocol");
  with.send<service::Statistics>(service::Kind::kStatistics);
  std::string text;
  for (;;) {
    std::span<const uint8_t> rest;
    const auto piece =
        service::fixed_part<service::Text>(with.receive(), service::Kind::kText, &rest);
    if (!piece || piece->text_bytes != rest.size() || piece->is_last > 1 ||
        (rest.empty() && piece->is_last == 0))
      with.fail("does not keep to the protocol");
    text.append(reinterpret_cast<const char *>(rest.data()), rest.size());
    if (text.size() > kMostTextBytes) with.fail("says too much");
    if (piece->is_last == 1) return text;
  }
}

}  // namespace lanecrypt::cli
