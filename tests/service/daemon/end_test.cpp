// Tests how sessions end, and how the service ends.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "daemon_process.h"
#include "test_client.h"
#include "test_scale.h"

namespace lanecrypt::service::test {
namespace {

using lanecrypt::test::extreme_inputs;
using lanecrypt::test::key_of_bits;

class DaemonEnd : public testing::Test {
 protected:
  DaemonProcess daemon_;
  TestClient witness_ = connected(daemon_.socket_path());
  const TestKey &key_ = key_of_bits(kBits);
  const Bytes input_ = extreme_inputs(key_, 1).back();

  // Waits until nothing of other clients is left.
  bool is_alone() {
    return comes_true([&] {
      const nlohmann::json told = witness_.statistics();
      return told["clients"] == 1 && told["channels"] == 0 && told["keys"] == 0 &&
             told["operations_waiting"] == 0 && told["operations_under_way"] == 0;
    });
  }
};

TEST_F(DaemonEnd, AClosedSessionLeavesNothing) {
  {
    TestClient client = connected(daemon_.socket_path());
    const std::vector<Socket> channels = client.open_channels(4);
    EXPECT_EQ(Outcome::kDone, ask(channels[0], 1, key_, input_, true).outcome);
    const nlohmann::json told = witness_.statistics();
    EXPECT_EQ(2, told["clients"]);
    EXPECT_EQ(1, told["keys"]);
    EXPECT_EQ(4, told["channels"]);
    ASSERT_EQ(1u, told["users"].size());
    EXPECT_EQ(1, told["users"][0]["keys"]);
    EXPECT_EQ(4, told["users"][0]["channels"]);
    client.control.close();
    EXPECT_TRUE(channels[0].is_closed());
  }
  EXPECT_TRUE(is_alone());
}

TEST_F(DaemonEnd, AClosedSessionsOperationsAreDropped) {
  {
    TestClient client = connected(daemon_.socket_path());
    const std::vector<Socket> channels = client.open_channels(32);
    for (const Socket &channel : channels)
      ASSERT_TRUE(channel.send(private_request(1, key_, input_, true)));
  }
  EXPECT_TRUE(is_alone());
  EXPECT_EQ(0u, witness_.page()->operations);
}

TEST_F(DaemonEnd, AClosedChannelLeavesTheOthers) {
  TestClient client = connected(daemon_.socket_path());
  std::vector<Socket> channels = client.open_channels(3);
  ASSERT_TRUE(channels[0].send(private_request(1, key_, input_, true)));
  channels[0].close();
  channels[1].close();
  EXPECT_TRUE(comes_true([&] { return witness_.statistics()["channels"] == 1; }));
  EXPECT_EQ(Outcome::kDone, ask(channels[2], 1, key_, input_, true).outcome);
}

TEST_F(DaemonEnd, KeysAreWipedWithTheSession) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer keeps what was on stacks";
  // The primes of a key, as the client sent them.
  const TestKey key = TestKey::random(kBits);
  {
    TestClient client = connected(daemon_.socket_path());
    const std::vector<Socket> channels = client.open_channels(1);
    const Answer answer = ask(channels[0], 1, key, input_, true);
    EXPECT_TRUE(answer.outcome == Outcome::kDone || answer.outcome == Outcome::kBadInput);
    EXPECT_NE("", daemon_.place_in_memory(key.p)) << "this test would not find a key";
  }
  ASSERT_TRUE(is_alone());
  for (const Bytes *part : {&key.p, &key.q, &key.dp, &key.dq, &key.qinv}) {
    EXPECT_EQ("", daemon_.place_in_memory(*part));
    // In the byte order of long numbers.
    EXPECT_EQ("", daemon_.place_in_memory(Bytes(part->rbegin(), part->rend())));
  }
}

TEST_F(DaemonEnd, InputsAndResultsAreWipedAfterTheAnswer) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer keeps what was on stacks";
  TestClient client = connected(daemon_.socket_path());
  const std::vector<Socket> channels = client.open_channels(1);
  const Answer answer = ask(channels[0], 1, key_, input_, true);
  ASSERT_EQ(Outcome::kDone, answer.outcome);
  // Waits for a moment, since the answer is sent before the wipe.
  const auto places = [&] {
    return daemon_.place_in_memory(answer.output) + daemon_.place_in_memory(input_);
  };
  EXPECT_TRUE(comes_true([&] { return places() == ""; })) << places();
}

// The process that connected has ended, and its child keeps the socket.
TEST_F(DaemonEnd, ASessionEndsWithItsProcess) {
  int stays[2];
  ASSERT_EQ(0, pipe(stays));
  const pid_t parent = fork();
  if (parent == 0) {
    close(stays[1]);
    TestClient client = connected(daemon_.socket_path());
    const std::vector<Socket> channels = client.open_channels(2);
    (void)ask(channels[0], 1, key_, input_, true);
    if (fork() == 0) {
      char byte;
      (void)!read(stays[0], &byte, 1);
    }
    _exit(0);
  }
  close(stays[0]);
  int status = 0;
  ASSERT_EQ(parent, waitpid(parent, &status, 0));
  EXPECT_TRUE(is_alone());
  close(stays[1]);
}

TEST_F(DaemonEnd, ASilentClientIsSentAway) {
  TestClient client(daemon_.socket_path());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(client.control.is_closed());
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(took, std::chrono::seconds(4));
  EXPECT_LT(took, std::chrono::seconds(30));
  EXPECT_EQ(1, witness_.statistics()["clients"]);
}

// ---- The end of the service -------------------------------------------------

TEST_F(DaemonEnd, BySigtermItFinishesWhatIsUnderWay) {
  const std::vector<Socket> channels = witness_.open_channels(16);
  EXPECT_EQ(Outcome::kDone, ask(channels[0], 1, key_, input_, true).outcome);
  for (const Socket &channel : channels)
    ASSERT_TRUE(channel.send(private_request(1, key_, input_, false)));
  EXPECT_TRUE(comes_true([&] { return witness_.page()->operations > 0; }));
  daemon_.send_signal(SIGTERM);
  EXPECT_EQ(0, daemon_.wait());
  EXPECT_NE(0, access(daemon_.socket_path().c_str(), F_OK));
  // Each request is answered, correctly, or its channel is closed.
  for (const Socket &channel : channels) {
    const std::optional<Bytes> packet = channel.receive();
    if (!packet) continue;
    Result head;
    ASSERT_GE(packet->size(), sizeof head);
    std::memcpy(&head, packet->data(), sizeof head);
    if (head.outcome == Outcome::kDone) {
      EXPECT_EQ(key_.power(input_, key_.secret.get()),
                Bytes(packet->begin() + sizeof head, packet->end()));
    }
  }
  EXPECT_TRUE(witness_.control.is_closed());
}

TEST_F(DaemonEnd, BySigintToo) {
  daemon_.send_signal(SIGINT);
  EXPECT_EQ(0, daemon_.wait());
}

TEST_F(DaemonEnd, ASignalWhileDevicesOpenIsHeard) {
  DaemonProcess other({.awaits_ready = false});
  EXPECT_TRUE(comes_true([&] { return access(other.socket_path().c_str(), F_OK) == 0; }));
  other.send_signal(SIGTERM);
  EXPECT_EQ(0, other.wait());
}

TEST(DaemonUntilClosed, EndsWithItsStarter) {
  int pipe_ends[2];
  ASSERT_EQ(0, pipe2(pipe_ends, O_CLOEXEC));
  constexpr int kTheirs = 11;
  DaemonProcess daemon(
      {.arguments = {"--devices", "host", "--until-closed", std::to_string(kTheirs)},
       .in_child = [&] { dup2(pipe_ends[0], kTheirs); }});
  close(pipe_ends[0]);
  // Bytes in the pipe have no meaning.
  EXPECT_EQ(1, write(pipe_ends[1], "x", 1));
  EXPECT_EQ(Outcome::kDone, TestClient(daemon.socket_path()).hello());
  EXPECT_TRUE(daemon.is_running());
  close(pipe_ends[1]);
  EXPECT_EQ(0, daemon.wait());
}

}  // namespace
}  // namespace lanecrypt::service::test
