// Fuzzes the client side of the service. The input is a script for a fake service, which sends any
// answers, descriptors and status pages, and closes at any time. Each operation must end, with a
// result that such an answer had or with none, and no descriptor may leak.
//
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fuzz/script.h"
#include "service/client/client.h"
#include "service/client/generation.h"
#include "service/client/job_watch.h"
#include "service/client/operation.h"
#include "service/wire/packets.h"

namespace {

using namespace lanecrypt;
using namespace lanecrypt::service;
using fuzz::require;
using fuzz::Script;
using Bytes = std::span<const uint8_t>;
using Packet = std::vector<uint8_t>;

constexpr size_t kModulusBytes = 256;
constexpr const SignatureSet &kShort = kMlDsaSets[1], &kLong = kSlhDsaSets.back();
constexpr uint8_t kRightByte = 0x5a;
constexpr size_t kMostPackets = 12, kMostOperations = 24;
// The fake service has closed its sockets, so no operation may wait until the service counts as
// silent. If other work delays the fuzzer, the same input is tried again.
constexpr std::chrono::seconds kMostWait{4}, kStuck{100};
constexpr int kTries = 5;

template <class Message>
Packet packet_of(const Message &message, Bytes rest = {}) {
  Packet packet(sizeof message + rest.size());
  std::memcpy(packet.data(), &message, sizeof message);
  std::copy(rest.begin(), rest.end(), packet.begin() + sizeof message);
  return packet;
}

void send_all(int socket, const Packet &packet, std::span<const int> descriptors = {}) {
  const Bytes pieces[] = {packet};
  (void)send_packet(socket, pieces, descriptors);
}

// Changes `changes` bytes where the script says so.
void change(Packet &packet, Script &script, unsigned changes) {
  for (; changes > 0 && !packet.empty(); --changes) {
    const size_t at = script.number() % packet.size();
    packet[at] = script.byte();
  }
}

Packet any_packet(Script &script, bool has_right_header) {
  const size_t size = script.number() % 600;
  const Bytes given = script.bytes(size);
  Packet packet(given.begin(), given.end());
  packet.resize(std::max<size_t>(size, 1));
  if (has_right_header && packet.size() >= sizeof(Header)) {
    Header header;
    std::memcpy(&header, packet.data(), sizeof header);
    header.version = kVersion;
    header.bytes = uint32_t(packet.size());
    std::memcpy(packet.data(), &header, sizeof header);
  }
  return packet;
}

// Returns an answer on a channel, valid or not.
Packet answer_of(Script &script) {
  const uint8_t how = script.byte();
  Packet packet;
  switch (how % 7) {
    case 0: {
      const Packet output(kModulusBytes, kRightByte);
      packet = packet_of(
          Result{header_of<Result>(Kind::kResult, output.size()), Outcome::kDone, kModulusBytes},
          output);
      break;
    }
    case 1:
      packet = packet_of(Result{header_of<Result>(Kind::kResult), Outcome(script.byte() % 9), 0});
      break;
    case 2: {
      const Packet parts(8 * 128, kRightByte);
      RsaKeyMade made{header_of<RsaKeyMade>(Kind::kRsaKey, parts.size()), Outcome::kDone, {}, 0};
      for (uint16_t &bytes : made.part_bytes) bytes = 128;
      packet = packet_of(made, parts);
      break;
    }
    case 5:
    case 6: {
      const Packet output((how % 7 == 5 ? kShort : kLong).signature_bytes, kRightByte);
      packet = packet_of(Result{header_of<Result>(Kind::kResult, output.size()), Outcome::kDone,
                                uint32_t(output.size())},
                         output);
      break;
    }
    case 3:
      packet = packet_of(StillAtWork{header_of<StillAtWork>(Kind::kStillAtWork)});
      break;
    default:
      return any_packet(script, (how & 128) != 0);
  }
  change(packet, script, how / 8 % 4);
  return packet;
}

// Returns the descriptor of a status page, valid or not.
int page_of(Script &script) {
  const uint8_t how = script.byte();
  const int memory = memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  require(memory >= 0 && ftruncate(memory, (how & 1) != 0 ? 100 : off_t(kStatusPageBytes)) == 0);
  uint32_t page[kStatusPageBytes / 4] = {kPageMagic, kPageVersion, 4, 1, script.byte()};
  page[offsetof(StatusPage, ml_dsa_devices) / 4] = 1;
  page[offsetof(StatusPage, slh_dsa_devices) / 4] = 1;
  if ((how & 2) != 0) page[script.byte() % 4] = script.byte();
  // Changes some words: odd ones among the counts at the beginning, even ones anywhere.
  for (unsigned n = how / 16; n > 0; --n) {
    const size_t end = n % 2 != 0 ? 8 : std::size(page);
    uint32_t &word = page[2 + script.number() % (end - 2)];
    word = uint32_t{script.number()} << 16 | script.byte();
  }
  require(write(memory, page, (how & 1) != 0 ? 100 : sizeof page) > 0);
  if ((how & 4) == 0) require(fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  return memory;
}

// What the fake service sends, whatever the requests are. Both threads use it, one after the other.
struct Service {
  struct Sent {
    Packet packet;
    std::vector<int> descriptors;
  };
  std::vector<Sent> packets;
  std::vector<int> ours;  // the service's ends of channels, closed by the destructor

  ~Service() {
    for (const Sent &sent : packets)
      for (const int descriptor : sent.descriptors) close(descriptor);
    for (const int descriptor : ours) close(descriptor);
  }

  // Returns the client's end of a channel that already holds its answers.
  int channel(Script &script) {
    const uint8_t how = script.byte();
    int pair[2];
    if (how % 16 == 15) return open("/dev/null", O_RDWR | O_CLOEXEC);
    require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    for (unsigned n = how % 4; n > 0; --n) send_all(pair[0], answer_of(script));
    // The client reads the end of the stream after the answers.
    (void)shutdown(pair[0], (how & 64) != 0 ? SHUT_RDWR : SHUT_WR);
    ours.push_back(pair[0]);
    return pair[1];
  }

  void add(Script &script) {
    const uint8_t how = script.byte();
    Sent sent;
    switch (how % 4) {
      case 0:
        sent.packet = packet_of(Welcome{header_of<Welcome>(Kind::kWelcome),
                                        (how & 64) != 0 ? script.number() : 4096u, 4096});
        sent.descriptors.push_back(page_of(script));
        break;
      case 1: {
        const uint8_t count = script.byte() % (kMostChannelsAtOnce + 1);
        sent.packet = packet_of(Channels{header_of<Channels>(Kind::kChannels), count, 0});
        for (uint8_t n = 0; n < count % 8; ++n) sent.descriptors.push_back(channel(script));
        break;
      }
      case 2:
        sent.packet =
            packet_of(Refused{header_of<Refused>(Kind::kRefused), Outcome(script.byte() % 9), 0});
        break;
      default:
        sent.packet = any_packet(script, (how & 128) != 0);
    }
    change(sent.packet, script, how / 8 % 4);
    packets.push_back(std::move(sent));
  }

  void serve(int control) {
    for (const Sent &sent : packets) send_all(control, sent.packet, sent.descriptors);
    (void)shutdown(control, SHUT_WR);
    ours.push_back(control);
  }
};

// Accepts one connection for each input, and serves it with the Service of that input.
class Listener {
 public:
  Listener() {
    char folder[] = "/tmp/lanecrypt-fuzz.XXXXXX";
    require(mkdtemp(folder) != nullptr);
    path_ = std::string(folder) + "/socket";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
    socket_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    require(bind(socket_, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0);
    require(listen(socket_, 8) == 0);
    std::thread([this] { run(); }).detach();
  }
  const std::string &path() const { return path_; }

  void begin(Service *service) {
    const std::lock_guard lock(mutex_);
    service_ = service;
    client_is_over_ = false;
  }
  // Called when the client is done. Returns when the thread no longer uses the Service.
  void end() {
    std::unique_lock lock(mutex_);
    client_is_over_ = true;
    require(changed_.wait_for(lock, kStuck, [this] { return service_ == nullptr; }));
  }

 private:
  bool has_connection(int wait_ms) {
    pollfd one{socket_, POLLIN, 0};
    return poll(&one, 1, wait_ms) == 1;
  }

  void run() {
    for (;;) {
      (void)has_connection(100);
      const std::lock_guard lock(mutex_);
      if (service_ == nullptr) continue;
      // A client that is not scheduled for long gives up before it has connected.
      if (has_connection(0))
        service_->serve(accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC));
      else if (!client_is_over_)
        continue;
      service_ = nullptr;
      changed_.notify_all();
    }
  }

  std::string path_;
  int socket_ = -1;
  std::mutex mutex_;
  std::condition_variable changed_;
  Service *service_ = nullptr;
  bool client_is_over_ = false;
};

class Key final : public client::Key {
 public:
  Key() : client::Key({Family::kRsa, 8 * kModulusBytes}) {}
  bool copy_numbers(client::KeyNumbers &to) const override {
    constexpr size_t kBytes = 128;
    to.memory = secure::KeyMemory(kModulusBytes + kKeyParts * kBytes);
    uint8_t *at = to.memory.data();
    for (size_t n = 0; n < kD; ++n) {
      const size_t bytes = n == kN ? kModulusBytes : kBytes;
      std::memset(at, 0x33, bytes);
      to.parts[n] = {at, bytes};
      at += bytes;
    }
    return true;
  }
};

class SetKey final : public client::Key {
 public:
  explicit SetKey(const SignatureSet &set) : client::Key(set.operation_kind()), set_(set) {}
  bool copy_numbers(client::KeyNumbers &to) const override {
    to.memory = secure::KeyMemory(set_.key_bytes);
    std::memset(to.memory.data(), 0x33, set_.key_bytes);
    to.parts[kWholeKey] = {to.memory.data(), set_.key_bytes};
    return true;
  }

 private:
  const SignatureSet &set_;
};

size_t in_bytes_of(const client::Key &key) {
  const SignatureSet *const set = find_set(key.operation_kind());
  return set == nullptr ? kModulusBytes : set->input_bytes;
}
size_t out_bytes_of(const client::Key &key) {
  const SignatureSet *const set = find_set(key.operation_kind());
  return set == nullptr ? kModulusBytes : set->signature_bytes;
}

// An output may only be written by an answer with a result.
void check_output(Bytes output, bool is_done) {
  if (!is_done)
    for (const uint8_t byte : output) require(byte == 0);
}

void run_by_job(client::Connection &connection, client::JobWatch &watch, client::Key &key) {
  const std::shared_ptr<client::Session> session = connection.session();
  if (session == nullptr || !watch.is_usable()) return;
  client::Channel *const channel = watch.prepare(session);
  if (channel == nullptr) return;
  const Packet in(in_bytes_of(key), 1);
  Packet out(out_bytes_of(key), 0);
  client::Exchange exchange(*session, *channel, key, in, out);
  client::Exchange::State state = exchange.send();
  const uint64_t operation = watch.begin();
  while (state == client::Exchange::State::kWaits && watch.has(operation)) {
    pollfd one{watch.descriptor(), POLLIN, 0};
    require(poll(&one, 1, int(std::chrono::milliseconds(kStuck).count())) == 1);
    state = exchange.receive(false);
    if (state == client::Exchange::State::kWaits) require(!session->is_silent(*channel));
  }
  check_output(out, state == client::Exchange::State::kDone);
  if (state == client::Exchange::State::kEnded)
    watch.drop();
  else
    watch.finish();
  (void)client::conclude(connection, exchange, state);
}

void run_by_thread(client::Connection &connection, client::Key &key) {
  const Packet in(in_bytes_of(key), 1);
  Packet out(out_bytes_of(key), 0);
  check_output(out, client::run_private(connection, key, in, out) == OffloadResult::kDone);
}

void generate(client::Connection &connection) {
  static const uint8_t kExponent[] = {1, 0, 1};
  client::NewKeys wish;
  wish.bits = 2048;
  wish.exponent = kExponent;
  wish.goes_on = [](void *) { return true; };
  wish.take = [](void *, const KeyParts &parts) {
    for (const Bytes part : parts) require(!part.empty() && part.size() <= kMostModulusBytes);
    return true;
  };
  (void)client::generate(connection, wish);
}

void choose(client::Connection &connection, Script &script) {
  const std::shared_ptr<client::Session> session = connection.session();
  if (session == nullptr) return;
  client::Choice &choice = connection.choice();
  if (choice.wants_look(*session)) session->look_again();
  const uint8_t what = script.byte();
  const OperationKind operation_kind =
      (what & 4) != 0 ? kSignatureSets[what / 8 % kSignatureSetCount].operation_kind()
                      : OperationKind{Family::kRsa, 1024u << what % 4};
  if (!choice.is_service_sooner(operation_kind, script.byte()))
    choice.report_cpu_time(operation_kind, std::chrono::microseconds(script.number()));
}

size_t open_files() {
  size_t count = 0;
  DIR *const folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

void use(client::Connection &connection, Script &script) {
  Key rsa;
  SetKey with_short(kShort), with_long(kLong);
  client::Key *const keys[3] = {&rsa, &with_short, &with_long};
  client::JobWatch watches[2];
  (void)connection.connect(true);
  for (size_t n = 0; n < kMostOperations && !script.is_over(); ++n) {
    const uint8_t what = script.byte();
    client::Key &key = *keys[what / 32 % 3];
    switch (what % 8) {
      case 0:
      case 1:
        run_by_thread(connection, key);
        break;
      case 2:
      case 3:
        run_by_job(connection, watches[what / 16 % 2], key);
        break;
      case 4:
        generate(connection);
        break;
      case 5:
        choose(connection, script);
        break;
      case 6:
        if (const auto session = connection.session()) key.forget_in(*session);
        break;
      default:
        if (what == 0xff) connection.end();
        (void)connection.take_loss();
    }
  }
}

// Runs one input. Returns whether it ended before an operation can have waited for a silent
// service.
bool run(const uint8_t *data, size_t size) {
  static Listener &listener = *new Listener;
  const auto began = std::chrono::steady_clock::now();
  Script script(data, size);
  Service service;
  for (size_t packets = script.byte() % kMostPackets; packets > 0; --packets) service.add(script);
  listener.begin(&service);
  {
    client::Client client(client::ServiceAddress::named(listener.path()));
    use(client.here(), script);
  }
  listener.end();
  return std::chrono::steady_clock::now() - began < kMostWait;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static size_t inputs = 0;
  // Counts descriptors for every 16th input only, since that takes long.
  const bool counts = ++inputs % 16 == 0;
  const size_t files = counts ? open_files() : 0;
  int tries = 1;
  while (!run(data, size)) require(tries++ < kTries);
  if (counts) require(open_files() == files);
  return 0;
}
