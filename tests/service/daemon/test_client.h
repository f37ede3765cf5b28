// A test client of the service, which can also break the protocol.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../../unit/support/rsa_test_key.h"
#include "service/wire/messages.h"
#include "service/wire/operation_kind.h"
#include "service/wire/status_page.h"

namespace lanecrypt::service::test {

using lanecrypt::test::Bytes;
using lanecrypt::test::TestKey;

// The length of most tests' keys: the emulator is slow.
constexpr int kBits = 1024;

// One end of a socket. The test fails if a packet does not come within a minute.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int number);
  ~Socket() { close(); }
  Socket(Socket &&other) noexcept;
  Socket &operator=(Socket &&other) noexcept;

  int get() const { return number_; }
  void close();
  // Returns false if the packet cannot be sent.
  bool send(std::span<const uint8_t> packet) const;
  // Returns the next packet, or nullopt if the service has closed the socket.
  std::optional<Bytes> receive(std::vector<int> *descriptors = nullptr) const;
  bool is_closed() const { return !receive(); }

 private:
  int number_ = -1;
};

// Returns a packet of a fixed part and the bytes after it. Sets the header.
template <class Message>
Bytes packet(Kind kind, Message message, std::span<const uint8_t> rest = {}) {
  message.header = {kind, kVersion, uint32_t(sizeof message + rest.size())};
  // Not with insert(), for which gcc 12 gives a false warning.
  Bytes bytes(sizeof message + rest.size());
  std::memcpy(bytes.data(), &message, sizeof message);
  std::copy(rest.begin(), rest.end(), bytes.begin() + sizeof message);
  return bytes;
}

// Returns a request for a private operation, with the parts of the key or without.
Bytes private_request(uint64_t number, const TestKey &key, const Bytes &input, bool with_key);

// Returns a request for a signature. `input` and `key` are as in Sign; without a key, `key` is
// empty.
Bytes sign_request(uint64_t number, const OperationKind &set, const Bytes &input, const Bytes &key);

struct Answer {
  Outcome outcome = Outcome::kFailed;
  Bytes output;
};

class TestClient {
 public:
  // Connects. Throws if nothing listens there.
  explicit TestClient(const std::string &path);

  Socket control;
  // Sends kHello. Returns the outcome of a refusal, or kDone.
  Outcome hello();
  const StatusPage *page() const { return page_; }
  int page_descriptor() const { return page_descriptor_.get(); }
  // Requests `count` channels and returns those that the service gives.
  std::vector<Socket> open_channels(uint32_t count);
  nlohmann::json statistics();
  // Returns the counters of a kind, such as "rsa-1024-private"; null if there are none.
  nlohmann::json kind(const std::string &name);

 private:
  Socket page_descriptor_;
  const StatusPage *page_ = nullptr;
};

// Returns a client that has sent kHello.
TestClient connected(const std::string &path);

// Returns the answer on a channel. If the channel is closed, fails the test and returns kFailed
// without an output.
Answer answer_of(const Socket &channel);
// Sends a request and waits for its answer.
Answer ask(const Socket &channel, uint64_t number, const TestKey &key, const Bytes &input,
           bool with_key);

// Waits until `what` returns true, for a minute at most.
bool comes_true(const std::function<bool()> &what);

}  // namespace lanecrypt::service::test
