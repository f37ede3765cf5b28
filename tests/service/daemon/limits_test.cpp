// Tests the limits of clients and users.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../unit/support/hostile_rsa_keys.h"
#include "daemon_process.h"
#include "service/daemon/limits.h"
#include "test_client.h"

namespace lanecrypt::service::test {
namespace {

using lanecrypt::test::extreme_inputs;
using lanecrypt::test::key_of_bits;

// Raises the limit of descriptors: this process needs one for each channel.
class DaemonLimits : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before_));
    const rlimit raised{before_.rlim_max, before_.rlim_max};
    ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &raised));
    if (before_.rlim_max < 16384) GTEST_SKIP() << "needs 16384 descriptors";
  }
  void TearDown() override { (void)setrlimit(RLIMIT_NOFILE, &before_); }

  rlimit before_{};
  const TestKey &key_ = key_of_bits(kBits);
  const Bytes input_ = extreme_inputs(key_, 1).back();
};

TEST_F(DaemonLimits, AUserHasSoManySessions) {
  DaemonProcess service;
  std::vector<TestClient> clients;
  size_t refused = 0;
  for (size_t n = 0; n < daemon::kMostSessionsOfUser + 1000; ++n) {
    TestClient client(service.socket_path());
    const Outcome outcome = client.hello();
    if (outcome == Outcome::kDone)
      clients.push_back(std::move(client));
    else
      refused += outcome == Outcome::kBusy || outcome == Outcome::kFailed ? 1 : 0;
  }
  EXPECT_EQ(daemon::kMostSessionsOfUser, clients.size());
  EXPECT_EQ(1000u, refused);
  const nlohmann::json told = clients[0].statistics();
  EXPECT_EQ(clients.size(), told["clients"]);
  EXPECT_EQ(1000, told["clients_refused_total"]);
  // The existing sessions work, and a session that ends makes room for another.
  const std::vector<Socket> channels = clients[0].open_channels(1);
  ASSERT_EQ(1u, channels.size());
  EXPECT_EQ(Outcome::kDone, ask(channels[0], 1, key_, input_, true).outcome);
  clients.pop_back();
  EXPECT_TRUE(
      comes_true([&] { return TestClient(service.socket_path()).hello() == Outcome::kDone; }));
}

TEST_F(DaemonLimits, ASessionHasSoManyChannels) {
  DaemonProcess service;
  TestClient client = connected(service.socket_path());
  std::vector<Socket> channels;
  while (true) {
    std::vector<Socket> more = client.open_channels(32);
    if (more.empty()) break;
    for (Socket &channel : more) channels.push_back(std::move(channel));
  }
  EXPECT_EQ(daemon::kMostChannelsOfSession, channels.size());
  EXPECT_EQ(Outcome::kDone, ask(channels.back(), 1, key_, input_, true).outcome);
  channels.resize(channels.size() - 5);
  EXPECT_TRUE(comes_true(
      [&] { return client.statistics()["channels"] == daemon::kMostChannelsOfSession - 5; }));
  EXPECT_EQ(5u, client.open_channels(32).size());
}

TEST_F(DaemonLimits, ASessionHasSoManyKeys) {
  DaemonProcess service;
  TestClient client = connected(service.socket_path());
  const std::vector<Socket> channels = client.open_channels(32);
  ASSERT_EQ(32u, channels.size());
  // An invalid input: nothing is computed, but the key stays.
  const Bytes none(kBits / 8, 0xff);
  for (uint64_t first = 1; first <= daemon::kMostKeysOfSession; first += channels.size()) {
    for (size_t n = 0; n < channels.size(); ++n)
      ASSERT_TRUE(channels[n].send(private_request(first + n, key_, none, true)));
    for (const Socket &channel : channels)
      ASSERT_EQ(Outcome::kBadInput, answer_of(channel).outcome);
  }
  EXPECT_EQ(daemon::kMostKeysOfSession, client.statistics()["keys"]);
  EXPECT_EQ(Outcome::kBusy, ask(channels[0], 1000000, key_, input_, true).outcome);
  EXPECT_EQ(Outcome::kDone, ask(channels[0], 1, key_, input_, false).outcome);
  ASSERT_TRUE(client.control.send(packet(Kind::kForgetKey, ForgetKey{{}, 2})));
  EXPECT_TRUE(comes_true(
      [&] { return ask(channels[0], 1000000, key_, input_, true).outcome == Outcome::kDone; }));
}

// A device computes for the longer prime of a key, so the key is charged for it.
TEST(DaemonCharges, TheLongerPrimeCounts) {
  EXPECT_EQ(2048u, daemon::charged_bits(2048, 1024));
  EXPECT_EQ(2047u, daemon::charged_bits(2047, 1023));
  EXPECT_EQ(4096u, daemon::charged_bits(2208, 2048));
  EXPECT_EQ(8192u, daemon::charged_bits(4100, 4096));
  size_t before = 0;
  for (const uint32_t bits : {1024u, 2048u, 3072u, 4096u, 6144u, 8192u}) {
    EXPECT_GT(daemon::bytes_of_key(Family::kRsa, bits), before) << bits;
    before = daemon::bytes_of_key(Family::kRsa, bits);
  }
  // One user may not fill the memory of all users.
  EXPECT_LE(4 * daemon::kMostKeyBytesOfUser, daemon::kMostKeyBytes);
}

// Many long keys exceed the limit of bytes, though their number is small.
TEST_F(DaemonLimits, AUserHasSoManyBytesOfKeys) {
  const TestKey key = lanecrypt::test::key_of_unequal_primes(2048, 160);
  const size_t most = daemon::kMostKeyBytesOfUser / daemon::bytes_of_key(Family::kRsa, 2 * 2048);
  ASSERT_LT(most, daemon::kMostKeysOfSession);
  DaemonProcess service;
  TestClient client = connected(service.socket_path());
  const std::vector<Socket> channels = client.open_channels(32);
  ASSERT_EQ(32u, channels.size());
  // An invalid input: nothing is computed, but the key stays.
  const Bytes none(key.n.size(), 0xff);
  size_t kept = 0, refused = 0;
  for (uint64_t number = 1; number <= most + 100;) {
    size_t sent = 0;
    for (; sent < channels.size() && number <= most + 100; ++sent, ++number)
      ASSERT_TRUE(channels[sent].send(private_request(number, key, none, true)));
    for (size_t n = 0; n < sent; ++n) {
      const Outcome outcome = answer_of(channels[n]).outcome;
      kept += outcome == Outcome::kBadInput;
      refused += outcome == Outcome::kBusy;
    }
  }
  EXPECT_EQ(most, kept);
  EXPECT_EQ(100u, refused);
  const nlohmann::json told = client.statistics();
  EXPECT_EQ(most, told["keys"]);
  EXPECT_EQ(most * daemon::bytes_of_key(Family::kRsa, 2 * 2048), told["key_bytes"]);
  // A key that is forgotten makes room for another.
  ASSERT_TRUE(client.control.send(packet(Kind::kForgetKey, ForgetKey{{}, 1})));
  EXPECT_TRUE(comes_true(
      [&] { return ask(channels[0], 1000000, key, none, true).outcome == Outcome::kBadInput; }));
}

TEST_F(DaemonLimits, WithoutDescriptorsItGoesOn) {
  constexpr rlim_t kFew = 200;
  DaemonProcess service({.in_child = [] {
    const rlimit few{kFew, kFew};
    (void)setrlimit(RLIMIT_NOFILE, &few);
  }});
  TestClient first = connected(service.socket_path());
  std::vector<Socket> channels = first.open_channels(32);
  EXPECT_EQ(32u, channels.size());
  std::vector<TestClient> clients;
  size_t refused = 0;
  for (int n = 0; n < 300; ++n) {
    TestClient client(service.socket_path());
    if (client.hello() == Outcome::kDone)
      clients.push_back(std::move(client));
    else
      ++refused;
  }
  // Clients get half of the descriptors, and one user half of these; a session takes 2.
  EXPECT_EQ((kFew / 4 - 2 - 32) / 2, clients.size());
  EXPECT_EQ(300 - clients.size(), refused);
  EXPECT_EQ(Outcome::kDone, ask(channels[0], 1, key_, input_, true).outcome);
  clients.clear();
  EXPECT_TRUE(
      comes_true([&] { return TestClient(service.socket_path()).hello() == Outcome::kDone; }));
  EXPECT_TRUE(service.is_running());
}

// Connects as many sessions as the service admits.
std::vector<TestClient> connect_all(const std::string &path) {
  std::vector<TestClient> clients;
  for (int n = 0; n < 100; ++n) {
    TestClient client(path);
    if (client.hello() == Outcome::kDone) clients.push_back(std::move(client));
  }
  return clients;
}

// A process of another user that opens all sessions it can get, and keeps them until its end.
class OtherUser {
 public:
  OtherUser(const std::string &path, uid_t user, gid_t group) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      if (setgroups(0, nullptr) != 0 || setgid(group) != 0 || setuid(user) != 0) _exit(3);
      const std::vector<TestClient> clients = connect_all(path);
      const size_t count = clients.size();
      if (write(ends[1], &count, sizeof count) != sizeof count) _exit(4);
      while (true) pause();
    }
    close(ends[1]);
    size_t count = 0;
    if (read(ends[0], &count, sizeof count) == sizeof count) sessions_ = count;
    close(ends[0]);
  }
  OtherUser(const OtherUser &) = delete;
  ~OtherUser() {
    if (process_ < 0) return;
    (void)kill(process_, SIGKILL);
    (void)waitpid(process_, nullptr, 0);
  }

  size_t sessions() const { return sessions_; }

 private:
  pid_t process_ = -1;
  size_t sessions_ = 0;
};

TEST_F(DaemonLimits, AUserLeavesDescriptorsToOthers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  constexpr gid_t kGroup = 65534;
  const group *const theirs = getgrgid(kGroup);
  if (theirs == nullptr) GTEST_SKIP() << "there is no group of that number";
  const lanecrypt::test::TemporaryFolder folder;
  ASSERT_EQ(0, chmod(folder.path().c_str(), 0711));
  constexpr rlim_t kFew = 400;
  DaemonProcess service({.arguments = {"--devices", "host", "--group", theirs->gr_name},
                         .in_child =
                             [] {
                               const rlimit few{kFew, kFew};
                               (void)setrlimit(RLIMIT_NOFILE, &few);
                             }},
                        folder.path() + "/socket");
  // There are 200 descriptors for clients. Each user gets half of what the others leave; a session
  // takes 2.
  const std::vector<TestClient> first = connect_all(service.socket_path());
  EXPECT_EQ(50u, first.size());
  const OtherUser second(service.socket_path(), 65534, kGroup);
  EXPECT_EQ(25u, second.sessions());
  const OtherUser third(service.socket_path(), 4711, kGroup);
  EXPECT_EQ(12u, third.sessions());
  EXPECT_TRUE(service.is_running());
}

}  // namespace
}  // namespace lanecrypt::service::test
