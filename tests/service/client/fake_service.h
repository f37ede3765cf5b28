// A fake service, which follows the protocol or breaks it as a test says. One thread serves all
// clients.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "service/wire/messages.h"
#include "service/wire/rsa_packets.h"
#include "service/wire/sign_packets.h"
#include "service/wire/status_page.h"
#include "temporary_folder.h"

namespace service_test {

using Bytes = std::vector<uint8_t>;

class FakeService {
 public:
  // How it answers kHello and kOpenChannels.
  enum class Greeting {
    kRight,
    kNone,
    kRefused,
    kGarbage,
    kNoPage,
    kShortPage,
    kPageThatMayShrink,
    kOtherVersion,
    kCloses,
  };
  enum class Channels { kRight, kNone, kRefused, kTooMany, kOtherCount, kGarbage, kCloses };
  // How it answers a request.
  enum class Answer {
    kRight,
    kNone,
    kCloses,     // closes the channel
    kClosesAll,  // closes every socket
    kShort,      // one byte less than the output
    kLong,       // one byte more than the output
    kOtherSize,  // a valid packet for another length of the modulus
    kOtherKind,
    kOtherVersion,
    kHeaderOnly,
    kHuge,  // as long as packets may be
    kUnknownOutcome,
    kDoneWithNothing,
    kFailedWithOutput,
    kTwice,        // the answer comes twice
    kUnknownKey,   // even if the request carries the key
    kForgetsOnce,  // kUnknownKey once
    kOutcome,      // the outcome in `outcome`
  };

  FakeService();
  ~FakeService();
  FakeService(const FakeService &) = delete;

  const std::string &path() const { return path_; }
  lanecrypt::service::StatusPage &page() { return *page_; }

  // Set by tests, also while the service runs.
  std::atomic<Greeting> greeting{Greeting::kRight};
  std::atomic<Channels> channels{Channels::kRight};
  std::atomic<Answer> answer{Answer::kRight};
  std::atomic<lanecrypt::service::Outcome> outcome{lanecrypt::service::Outcome::kBusy};
  std::atomic<int> delay_ms{0};
  std::atomic<uint32_t> most_channels{4096}, most_keys{1024};
  // The right output for an input and the parts of a key: for RSA by default the reversed input;
  // for signatures by parameter set.
  std::function<Bytes(std::span<const uint8_t> input, const std::vector<Bytes> &key)> compute;
  std::function<Bytes(const lanecrypt::service::SignatureSet &set, std::span<const uint8_t> input,
                      const Bytes &key)>
      sign;
  // The parts of a new key; empty: none could be made.
  std::function<std::vector<Bytes>(uint32_t bits)> generate;

  // Counts of what clients have sent.
  std::atomic<int> sessions{0}, ended{0}, opened{0}, requests{0}, with_key{0}, forgotten{0},
      looks{0}, closed_channels{0}, generations{0};

  // Ends all sessions, and accepts no more until start(). With `socket_stays` the socket's file
  // stays.
  void stop(bool socket_stays = false);
  void start();

 private:
  struct Socket;
  struct Late;
  void run();
  void accept_one();
  bool serve_control(Socket &socket);
  bool serve_channel(Socket &socket);
  // Answers an operation with a key. `parts` are those that the request carries; none if it carries
  // no key.
  bool answer_operation(Socket &socket, uint64_t key, const std::vector<Bytes> &parts,
                        const std::function<Bytes(const std::vector<Bytes> &key)> &right);
  bool answer_private(Socket &socket, const lanecrypt::service::PrivateRequest &request);
  bool answer_signature(Socket &socket, const lanecrypt::service::SignRequest &request);
  bool answer_generation(Socket &socket, const lanecrypt::service::GenerateRequest &request);
  bool welcome(int socket);
  bool hand_over(Socket &socket, uint32_t count);
  void later(int socket, Bytes packet);

  const lanecrypt::test::TemporaryFolder folder_;
  std::string path_;
  int page_file_ = -1, short_file_ = -1, loose_file_ = -1;
  lanecrypt::service::StatusPage *page_ = nullptr;
  int listener_ = -1, wake_[2] = {-1, -1};
  std::vector<Socket> sockets_;
  std::vector<Late> late_;
  uint64_t next_session_ = 1;
  bool closes_all_ = false;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace service_test
