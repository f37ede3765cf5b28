// SPDX-License-Identifier: Apache-2.0
#include "service/client/fake_service.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <stdexcept>

#include "service/wire/packets.h"

namespace service_test {

using namespace lanecrypt::service;
using Clock = std::chrono::steady_clock;

struct FakeService::Socket {
  int descriptor;
  uint64_t session;
  bool is_control;
  std::map<uint64_t, std::vector<Bytes>> keys;  // keys by number, of a control socket
};
struct FakeService::Late {
  Clock::time_point when;
  int socket;
  Bytes packet;
};

namespace {

int make_file(size_t bytes, unsigned seals) {
  const int file = memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0 || ftruncate(file, off_t(bytes)) != 0) throw std::runtime_error("no page");
  if (seals != 0) (void)fcntl(file, F_ADD_SEALS, seals);
  return file;
}

void append(Bytes &to, std::span<const uint8_t> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

bool send_bytes(int socket, std::span<const uint8_t> bytes, std::span<const int> descriptors = {}) {
  return send_packet(socket, {{bytes}}, descriptors) == Transfer::kDone;
}

template <class Message>
bool send_message(int socket, const Message &message, std::span<const int> descriptors = {}) {
  return send_bytes(socket, bytes_of(message), descriptors);
}

Bytes result_packet(Outcome outcome, const Bytes &output) {
  const Result fixed{header_of<Result>(Kind::kResult, output.size()), outcome,
                     uint32_t(output.size())};
  Bytes packet;
  append(packet, bytes_of(fixed));
  append(packet, output);
  return packet;
}

}  // namespace

FakeService::FakeService() : path_(folder_.path() + "/socket") {
  compute = [](std::span<const uint8_t> input, const std::vector<Bytes> &) {
    return Bytes(input.rbegin(), input.rend());
  };
  sign = [](const SignatureSet &set, std::span<const uint8_t> input, const Bytes &) {
    Bytes signature(set.signature_bytes, uint8_t(set.number));
    std::copy(input.begin(), input.end(), signature.begin());
    return signature;
  };
  page_file_ = make_file(kStatusPageBytes, F_SEAL_SHRINK);
  short_file_ = make_file(kStatusPageBytes - 1, F_SEAL_SHRINK);
  loose_file_ = make_file(kStatusPageBytes, 0);
  void *memory = mmap(nullptr, kStatusPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, page_file_, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no page");
  page_ = new (memory) StatusPage{};
  page_->magic = kPageMagic;
  page_->version = kPageVersion;
  page_->cores = 2;
  page_->usable_devices = page_->ml_dsa_devices = page_->slh_dsa_devices = 1;
  start();
}

FakeService::~FakeService() {
  stop();
  munmap(page_, kStatusPageBytes);
  for (const int file : {page_file_, short_file_, loose_file_}) close(file);
}

void FakeService::start() {
  ends_ = false;
  (void)unlink(path_.c_str());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.data(), path_.size());
  listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0 || pipe2(wake_, O_CLOEXEC) != 0 ||
      bind(listener_, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0 ||
      listen(listener_, 128) != 0)
    throw std::runtime_error("cannot listen");
  thread_ = std::thread([this] { run(); });
}

void FakeService::stop(bool socket_stays) {
  if (!thread_.joinable()) return;
  ends_ = true;
  close(wake_[1]);
  thread_.join();
  for (const Socket &one : sockets_) close(one.descriptor);
  sockets_.clear();
  late_.clear();
  close(listener_);
  close(wake_[0]);
  if (!socket_stays) (void)unlink(path_.c_str());
}

void FakeService::run() {
  while (!ends_) {
    std::vector<pollfd> polled = {{wake_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const Socket &one : sockets_) polled.push_back({one.descriptor, POLLIN, 0});
    const size_t count = sockets_.size();
    int wait = -1;
    for (const Late &one : late_) {
      const auto ms = std::chrono::ceil<std::chrono::milliseconds>(one.when - Clock::now()).count();
      wait =
          wait < 0 ? int(std::max<int64_t>(ms, 0)) : std::min(wait, int(std::max<int64_t>(ms, 0)));
    }
    if (poll(polled.data(), polled.size(), wait) < 0) continue;
    for (auto one = late_.begin(); one != late_.end();) {
      if (one->when > Clock::now()) {
        ++one;
        continue;
      }
      (void)send_bytes(one->socket, one->packet);
      one = late_.erase(one);
    }
    if (polled[1].revents != 0) accept_one();
    std::vector<int> gone;
    for (size_t n = 0; n < count; ++n) {
      if (polled[2 + n].revents == 0) continue;
      const bool goes_on =
          sockets_[n].is_control ? serve_control(sockets_[n]) : serve_channel(sockets_[n]);
      if (!goes_on) gone.push_back(sockets_[n].descriptor);
    }
    if (closes_all_) {
      for (const Socket &one : sockets_) gone.push_back(one.descriptor);
      closes_all_ = false;
    }
    for (const int descriptor : gone) {
      const auto one = std::find_if(sockets_.begin(), sockets_.end(), [&](const Socket &socket) {
        return socket.descriptor == descriptor;
      });
      if (one == sockets_.end()) continue;
      ++(one->is_control ? ended : closed_channels);
      std::erase_if(late_, [&](const Late &late) { return late.socket == descriptor; });
      sockets_.erase(one);
      close(descriptor);
    }
  }
}

void FakeService::accept_one() {
  const int made = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (made >= 0) sockets_.push_back({made, next_session_++, true, {}});
}

bool FakeService::welcome(int socket) {
  ++sessions;
  Welcome message{header_of<Welcome>(Kind::kWelcome), most_channels, most_keys};
  switch (greeting) {
    case Greeting::kRight:
      return send_message(socket, message, {{page_file_}});
    case Greeting::kNone:
      return true;
    case Greeting::kRefused:
      return send_message(socket,
                          Refused{header_of<Refused>(Kind::kRefused), Outcome::kNotAllowed, 0});
    case Greeting::kGarbage:
      return send_bytes(socket, Bytes(64, 0xA5));
    case Greeting::kNoPage:
      return send_message(socket, message);
    case Greeting::kShortPage:
      return send_message(socket, message, {{short_file_}});
    case Greeting::kPageThatMayShrink:
      return send_message(socket, message, {{loose_file_}});
    case Greeting::kOtherVersion:
      ++message.header.version;
      return send_message(socket, message, {{page_file_}});
    default:
      return false;
  }
}

bool FakeService::hand_over(Socket &socket, uint32_t count) {
  const Channels how = channels;
  if (how == Channels::kNone) return true;
  if (how == Channels::kCloses) return false;
  if (how == Channels::kGarbage) return send_bytes(socket.descriptor, Bytes(16, 0x5A));
  if (how == Channels::kRefused)
    return send_message(socket.descriptor,
                        Refused{header_of<Refused>(Kind::kRefused), Outcome::kBusy, 0});
  const uint32_t made = how == Channels::kTooMany ? count + 1 : count;
  const uint32_t told = how == Channels::kOtherCount ? count + 1 : made;
  std::vector<int> theirs;
  const uint64_t session = socket.session;
  const int control = socket.descriptor;
  for (uint32_t n = 0; n < made; ++n) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return false;
    theirs.push_back(pair[1]);
    sockets_.push_back({pair[0], session, false, {}});
    ++opened;
  }
  const bool sent =
      send_message(control,
                   lanecrypt::service::Channels{
                       header_of<lanecrypt::service::Channels>(Kind::kChannels), told, 0},
                   theirs);
  for (const int one : theirs) close(one);
  return sent;
}

bool FakeService::serve_control(Socket &socket) {
  uint8_t buffer[kMostPacketBytes];
  const Received received = receive_packet(socket.descriptor, buffer, false);
  if (received.transfer != Transfer::kDone) return received.transfer == Transfer::kWouldBlock;
  if (fixed_part<Hello>(received.packet, Kind::kHello)) return welcome(socket.descriptor);
  if (const auto wish = fixed_part<OpenChannels>(received.packet, Kind::kOpenChannels))
    return hand_over(socket, wish->count);
  if (const auto key = fixed_part<ForgetKey>(received.packet, Kind::kForgetKey)) {
    ++forgotten;
    socket.keys.erase(key->key);
    return true;
  }
  if (fixed_part<LookAgain>(received.packet, Kind::kLookAgain)) {
    ++looks;
    page_->looked_at = uint64_t(Clock::now().time_since_epoch().count());
    return true;
  }
  return false;
}

bool FakeService::serve_channel(Socket &socket) {
  uint8_t buffer[kMostPacketBytes];
  const Received received = receive_packet(socket.descriptor, buffer, false);
  if (received.transfer != Transfer::kDone) return received.transfer == Transfer::kWouldBlock;
  if (const auto request = read_private_request(received.packet))
    return answer_private(socket, *request);
  if (const auto request = read_sign_request(received.packet))
    return answer_signature(socket, *request);
  if (const auto request = read_generate_request(received.packet))
    return answer_generation(socket, *request);
  return false;
}

void FakeService::later(int socket, Bytes packet) {
  late_.push_back(
      {Clock::now() + std::chrono::milliseconds(delay_ms.load()), socket, std::move(packet)});
}

bool FakeService::answer_private(Socket &socket, const PrivateRequest &request) {
  std::vector<Bytes> parts;
  if (request.parts)
    for (const auto &part : *request.parts) parts.emplace_back(part.begin(), part.end());
  return answer_operation(socket, request.key, parts, [&](const std::vector<Bytes> &key) {
    return compute(request.input, key);
  });
}

bool FakeService::answer_signature(Socket &socket, const SignRequest &request) {
  std::vector<Bytes> parts;
  if (!request.private_key.empty())
    parts.emplace_back(request.private_key.begin(), request.private_key.end());
  return answer_operation(socket, request.key, parts, [&](const std::vector<Bytes> &key) {
    return sign(*request.set, request.input, key[kWholeKey]);
  });
}

bool FakeService::answer_operation(
    Socket &socket, uint64_t key, const std::vector<Bytes> &parts,
    const std::function<Bytes(const std::vector<Bytes> &key)> &right) {
  ++requests;
  const auto control = std::find_if(sockets_.begin(), sockets_.end(), [&](const Socket &one) {
    return one.is_control && one.session == socket.session;
  });
  if (control == sockets_.end()) return false;
  const bool brings_key = !parts.empty();
  if (brings_key) ++with_key;
  Answer how = answer;
  if (how == Answer::kForgetsOnce) {
    answer = Answer::kRight;
    control->keys.erase(key);
    if (!brings_key) how = Answer::kUnknownKey;
  }
  if (how != Answer::kUnknownKey && brings_key) control->keys[key] = parts;
  if (!control->keys.contains(key)) {
    (void)send_bytes(socket.descriptor, result_packet(Outcome::kUnknownKey, {}));
    return true;
  }
  const Bytes output = right(control->keys[key]);
  Bytes packet = result_packet(Outcome::kDone, output);
  switch (how) {
    case Answer::kNone:
      return true;
    case Answer::kCloses:
      return false;
    case Answer::kClosesAll:
      closes_all_ = true;
      return true;
    case Answer::kShort:
      packet.pop_back();
      break;
    case Answer::kLong:
      packet.push_back(0);
      break;
    case Answer::kOtherSize:
      packet = result_packet(Outcome::kDone, Bytes(output.size() / 2, 1));
      break;
    case Answer::kOtherKind:
      packet[0] ^= 1;
      break;
    case Answer::kOtherVersion:
      packet[2] ^= 1;
      break;
    case Answer::kHeaderOnly:
      packet.resize(sizeof(Header));
      packet[4] = sizeof(Header), packet[5] = 0;
      break;
    case Answer::kHuge:
      packet = result_packet(Outcome::kDone, Bytes(kMostPacketBytes - sizeof(Result), 1));
      break;
    case Answer::kUnknownOutcome:
      packet = result_packet(Outcome(77), {});
      break;
    case Answer::kDoneWithNothing:
      packet = result_packet(Outcome::kDone, {});
      break;
    case Answer::kFailedWithOutput:
      packet = result_packet(Outcome::kFailed, output);
      break;
    case Answer::kUnknownKey:
      packet = result_packet(Outcome::kUnknownKey, {});
      break;
    case Answer::kOutcome:
      packet = result_packet(outcome, {});
      break;
    case Answer::kTwice:
      (void)send_bytes(socket.descriptor, packet);
      break;
    default:
      break;
  }
  if (delay_ms > 0)
    later(socket.descriptor, std::move(packet));
  else
    (void)send_bytes(socket.descriptor, packet);
  return true;
}

bool FakeService::answer_generation(Socket &socket, const GenerateRequest &request) {
  ++generations;
  if (answer == Answer::kNone) return true;
  if (answer == Answer::kCloses) return false;
  RsaKeyMade fixed{};
  Bytes parts;
  const std::vector<Bytes> made = generate ? generate(request.bits) : std::vector<Bytes>();
  fixed.outcome = made.size() == kKeyParts ? Outcome::kDone : Outcome::kNoDevice;
  for (size_t n = 0; n < made.size(); ++n) {
    fixed.part_bytes[n] = uint16_t(made[n].size());
    append(parts, made[n]);
  }
  fixed.header = header_of<RsaKeyMade>(Kind::kRsaKey, parts.size());
  Bytes packet;
  append(packet, bytes_of(fixed));
  append(packet, parts);
  (void)send_message(socket.descriptor, StillAtWork{header_of<StillAtWork>(Kind::kStillAtWork)});
  later(socket.descriptor, std::move(packet));
  return true;
}

}  // namespace service_test
