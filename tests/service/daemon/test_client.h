// A client of the service, written for tests: it can also say what no client should.
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
#include "service/wire/sort.h"
#include "service/wire/status_page.h"

namespace lanecrypt::service::test {

using lanecrypt::test::Bytes;
using lanecrypt::test::TestKey;

// Of the keys of most tests: the emulator is slow.
constexpr int kBits = 1024;

// One end of a socket. What does not come within a minute fails the test.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int number);
  ~Socket() { close(); }
  Socket(Socket &&other) noexcept;
  Socket &operator=(Socket &&other) noexcept;

  int get() const { return number_; }
  void close();
  // False where the service does not take it.
  bool send(std::span<const uint8_t> packet) const;
  // nullopt where the service has closed it.
  std::optional<Bytes> receive(std::vector<int> *descriptors = nullptr) const;
  bool is_closed() const { return !receive(); }

 private:
  int number_ = -1;
};

// A packet of a fixed part and what follows it. The header is set.
template <class Message>
Bytes packet(Kind kind, Message message, std::span<const uint8_t> rest = {}) {
  message.header = {kind, kVersion, uint32_t(sizeof message + rest.size())};
  // Not by insert(), of which gcc 12 warns falsely.
  Bytes bytes(sizeof message + rest.size());
  std::memcpy(bytes.data(), &message, sizeof message);
  std::copy(rest.begin(), rest.end(), bytes.begin() + sizeof message);
  return bytes;
}

// A request with the parts of the key, or without.
Bytes private_request(uint64_t number, const TestKey &key, const Bytes &input, bool with_key);

// A request for a signature. `input` and `key` as Sign has them; `key` is empty if it does not come
// along.
Bytes sign_request(uint64_t number, const Sort &set, const Bytes &input, const Bytes &key);

struct Answer {
  Outcome outcome = Outcome::kFailed;
  Bytes output;
};

class TestClient {
 public:
  // Connects. Throws where nobody listens.
  explicit TestClient(const std::string &path);

  Socket control;
  // Says kHello. Gives the outcome where it is refused, else kDone.
  Outcome hello();
  const StatusPage *page() const { return page_; }
  int page_descriptor() const { return page_descriptor_.get(); }
  // As many as the service gives, of those that are wanted at once.
  std::vector<Socket> open_channels(uint32_t count);
  nlohmann::json statistics();
  // The counters of a kind, such as "rsa-1024-private"; null where there are none.
  nlohmann::json kind(const std::string &name);

 private:
  Socket page_descriptor_;
  const StatusPage *page_ = nullptr;
};

// A client that has said hello.
TestClient connected(const std::string &path);

// The answer on a channel; kFailed and no bytes where it is closed, which fails the test.
Answer answer_of(const Socket &channel);
// Sends a request and waits for its answer.
Answer ask(const Socket &channel, uint64_t number, const TestKey &key, const Bytes &input,
           bool with_key);

// Waits until `what` holds, at most a minute.
bool comes_true(const std::function<bool()> &what);

}  // namespace lanecrypt::service::test
