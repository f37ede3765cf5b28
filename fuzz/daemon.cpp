// Fuzzes lanecryptd with all that a client can do: valid and invalid packets on the control socket
// and on channels, with and without descriptors, and sockets closed at any time. The service runs
// unchanged, with a fake library that computes nothing. When the client has gone, the service must
// hold nothing of it and serve the next one.
//
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include "fuzz/fake_library.h"
#include "fuzz/script.h"
#include "service/daemon/daemon.h"
#include "service/wire/packets.h"
#include "service/wire/result.h"
#include "service/wire/rsa_packets.h"
#include "service/wire/sign_packets.h"

namespace {

using namespace lanecrypt::service;
using lanecrypt::fuzz::require;
using lanecrypt::fuzz::Script;
using Bytes = std::span<const uint8_t>;

constexpr size_t kDescriptors = 4096;
constexpr size_t kMostSteps = 64;
// After this time the service counts as stuck, even if other work delays it.
constexpr std::chrono::seconds kMostWait{100};
constexpr int kAnswerMs = 5;

// The service. It runs from the first input to the end of the process.
class Whole {
 public:
  Whole() {
    char folder[] = "/tmp/lanecrypt-fuzz.XXXXXX";
    require(mkdtemp(folder) != nullptr);
    path_ = std::string(folder) + "/socket";
    service_ = new daemon::Service("fake", LC_VERIFY_SAMPLED, kDescriptors);
    listener_ = new daemon::Listener(path_, std::nullopt, false);
    daemon_ = new daemon::Daemon(*service_, *listener_, {});
    std::thread([this] { daemon_->run(); }).detach();
    while (service_->page.status().usable_devices == 0 ||
           service_->page.status().ml_dsa_devices == 0 ||
           service_->page.status().slh_dsa_devices == 0)
      std::this_thread::yield();
    // The folder is left behind when the process ends.
    address_.sun_family = AF_UNIX;
    std::memcpy(address_.sun_path, path_.c_str(), path_.size() + 1);
  }

  int connect() const {
    const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    while (::connect(socket, reinterpret_cast<const sockaddr *>(&address_), sizeof address_) != 0)
      require(errno == EAGAIN || errno == EINTR);
    return socket;
  }

  // Returns when the service holds nothing of a client.
  void wait_for_rest() const {
    const auto until = std::chrono::steady_clock::now() + kMostWait;
    const daemon::Counters &counters = service_->counters;
    while (counters.sessions != 0 || counters.channels != 0 || counters.keys != 0 ||
           counters.under_way != 0 || service_->page.status().operations != 0 ||
           service_->sessions != 0 || service_->descriptors != 0 ||
           lanecrypt::fuzz::keys_of_library() != 0) {
      require(std::chrono::steady_clock::now() < until);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

 private:
  std::string path_;
  sockaddr_un address_{};
  daemon::Service *service_;
  daemon::Listener *listener_;
  daemon::Daemon *daemon_;
};

template <class Message>
Bytes view(const Message &message) {
  return {reinterpret_cast<const uint8_t *>(&message), sizeof message};
}

class Client {
 public:
  explicit Client(int control) : control_(control) {}
  ~Client() {
    for (const int channel : channels_) (void)close(channel);
    if (control_ >= 0) (void)close(control_);
  }

  void step(Script &script) {
    switch (script.byte() % 13) {
      case 0:
        return send_control(Hello{header_of<Hello>(Kind::kHello)});
      case 1: {
        send_control(OpenChannels{header_of<OpenChannels>(Kind::kOpenChannels), script.byte(), 0});
        return receive_control();
      }
      case 2:
        return send_control(ForgetKey{header_of<ForgetKey>(Kind::kForgetKey), script.byte()});
      case 3:
        return send_control(LookAgain{header_of<LookAgain>(Kind::kLookAgain)});
      case 4:
        return send_control(Statistics{header_of<Statistics>(Kind::kStatistics)});
      case 5:
        return receive_control();
      case 6:
        return send_any(control_, script);
      case 7:
        return send_any(channel(script), script);
      case 8:
        return send_private(script);
      case 9:
        return send_generate(script);
      case 10:
        return receive(channel(script));
      case 11:
        return send_sign(script);
      default:
        return close_one(script);
    }
  }

 private:
  int channel(Script &script) const {
    const size_t which = script.byte();
    return channels_.empty() ? control_ : channels_[which % channels_.size()];
  }

  template <class Message>
  void send_control(const Message &message) {
    send(control_, {view(message)});
  }

  static void send(int socket, std::initializer_list<Bytes> pieces,
                   std::span<const int> descriptors = {}) {
    if (socket >= 0) (void)send_packet(socket, {pieces.begin(), pieces.size()}, descriptors);
  }

  // Sends any bytes, with or without a valid header, and with up to three descriptors.
  static void send_any(int socket, Script &script) {
    const uint8_t how = script.byte();
    std::vector<uint8_t> packet(script.number() % 512);
    const Bytes given = script.bytes(packet.size());
    std::copy(given.begin(), given.end(), packet.begin());
    if (how % 2 == 0 && packet.size() >= sizeof(Header)) {
      Header header;
      std::memcpy(&header, packet.data(), sizeof header);
      header.version = kVersion;
      header.bytes = uint32_t(packet.size());
      std::memcpy(packet.data(), &header, sizeof header);
    }
    const std::vector<int> descriptors(how / 2 % 4, socket);
    if (!packet.empty()) send(socket, {packet}, descriptors);
  }

  // Sends a valid request for a private operation, with the key or without, and changes bytes where
  // the script says so.
  void send_private(Script &script) {
    const int socket = channel(script);
    const uint8_t how = script.byte();
    RsaPrivate fixed{};
    fixed.key = script.byte() % 8;
    constexpr uint32_t kLengths[] = {128, 256, 129, 1024};
    fixed.modulus_bytes = kLengths[how % 4];
    std::vector<uint8_t> rest(fixed.modulus_bytes, 0x11);
    rest[0] = script.byte();
    if ((how & 4) != 0) {
      const uint16_t part = uint16_t(fixed.modulus_bytes / 2);
      const uint16_t lengths[kKeyParts] = {
          uint16_t(fixed.modulus_bytes), 3, part, part, part, part, part, 0};
      std::memcpy(fixed.part_bytes, lengths, sizeof lengths);
      for (const uint16_t length : lengths) rest.insert(rest.end(), length, 0x33);
    }
    fixed.header = header_of<RsaPrivate>(Kind::kRsaPrivate, rest.size());
    send_changed(socket, view(fixed), rest, how / 8 % 8, script);
  }

  static void send_changed(int socket, Bytes fixed, Bytes rest, unsigned changes, Script &script) {
    std::vector<uint8_t> packet(fixed.begin(), fixed.end());
    packet.insert(packet.end(), rest.begin(), rest.end());
    for (; changes > 0; --changes) {
      const size_t at = script.number() % packet.size();
      packet[at] = script.byte();
    }
    send(socket, {packet});
  }

  // The same for a signature, with a parameter set that exists or not.
  void send_sign(Script &script) {
    const int socket = channel(script);
    const uint8_t which = script.byte(), how = script.byte();
    Sign fixed{};
    fixed.key = script.byte() % 8;
    const SignatureSet &set = kSignatureSets[which % kSignatureSetCount];
    fixed.set = which >= 0xf0 ? script.byte() : set.number;
    std::vector<uint8_t> rest(set.input_bytes, 0x11);
    rest[0] = script.byte();
    if ((how & 4) != 0) {
      fixed.key_bytes = set.key_bytes;
      rest.insert(rest.end(), set.key_bytes, script.byte());
    }
    fixed.header = header_of<Sign>(kind_of_signature(set.family), rest.size());
    send_changed(socket, view(fixed), rest, how / 8 % 8, script);
  }

  void send_generate(Script &script) {
    const int socket = channel(script);
    const Bytes exponent = script.bytes(script.byte() % 40);
    const RsaGenerate fixed{header_of<RsaGenerate>(Kind::kRsaGenerate, exponent.size()),
                            uint32_t{script.number()}, uint32_t(exponent.size())};
    send(socket, {view(fixed), exponent});
  }

  // Receives an answer, which must be a valid packet, whatever was sent.
  void receive(int socket) {
    static std::vector<uint8_t> buffer(sizeof(Result) + kMostOutputBytes);
    pollfd one{socket, POLLIN, 0};
    if (socket < 0 || poll(&one, 1, kAnswerMs) != 1) return;
    int descriptors[kMostChannelsAtOnce];
    size_t count = 0;
    const Received received = receive_packet(socket, buffer, false, descriptors, &count);
    if (received.transfer != Transfer::kDone) return;
    Header header;
    std::memcpy(&header, received.packet.data(), sizeof header);
    if (header.kind == Kind::kChannels) {
      require(fixed_part<Channels>(received.packet, Kind::kChannels)->count == count);
      channels_.insert(channels_.end(), descriptors, descriptors + count);
      return;
    }
    for (size_t n = 0; n < count; ++n) (void)close(descriptors[n]);
    require(count == (header.kind == Kind::kWelcome ? 1 : 0));
    if (header.kind == Kind::kResult) {
      const bool is_right = read_result(received.packet, received.packet.size() - sizeof(Result)) ||
                            received.packet.size() == sizeof(Result);
      require(is_right);
    } else if (header.kind == Kind::kRsaKey) {
      require(read_generated_key(received.packet).has_value());
    } else {
      require(header.kind == Kind::kWelcome || header.kind == Kind::kText ||
              header.kind == Kind::kRefused || header.kind == Kind::kStillAtWork);
    }
  }
  void receive_control() { receive(control_); }

  void close_one(Script &script) {
    const size_t which = script.byte();
    if (which % 4 == 0 && control_ >= 0) {
      (void)shutdown(control_, int(which / 4 % 3));
    } else if (which % 4 == 1) {
      (void)close(control_);
      control_ = -1;
    } else if (!channels_.empty()) {
      const size_t at = which / 4 % channels_.size();
      (void)close(channels_[at]);
      channels_.erase(channels_.begin() + std::ptrdiff_t(at));
    }
  }

  int control_;
  std::vector<int> channels_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Whole &whole = *new Whole;
  {
    Script script(data, size);
    Client client(whole.connect());
    for (size_t steps = 0; steps < kMostSteps && !script.is_over(); ++steps) client.step(script);
  }
  whole.wait_for_rest();
  return 0;
}
