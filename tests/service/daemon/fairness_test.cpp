// Tests a user that keeps the main thread busy while another user connects.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "daemon_process.h"
#include "service/wire/packets.h"
#include "temporary_folder.h"
#include "test_client.h"

namespace lanecrypt::service::test {
namespace {

constexpr uid_t kOther = 65534;
constexpr size_t kSessions = 128;

// Lets two processes wait for each other.
class Step {
 public:
  Step() { EXPECT_EQ(0, pipe2(ends_, O_CLOEXEC)); }
  ~Step() {
    for (const int end : ends_) close(end);
  }
  Step(const Step &) = delete;
  void done() const { EXPECT_EQ(1, write(ends_[1], "", 1)); }
  void wait() const {
    char ignored;
    EXPECT_EQ(1, read(ends_[0], &ignored, 1));
  }

 private:
  int ends_[2];
};

// The other user's sessions. Each has sent a request for channels by `asked`.
[[noreturn]] void ask_for_channels(const std::string &path, const Step &connected_all,
                                   const Step &stopped, const Step &asked) {
  if (setgroups(0, nullptr) != 0 || setgid(kOther) != 0 || setuid(kOther) != 0) _exit(3);
  std::vector<TestClient> clients;
  while (clients.size() < kSessions) clients.push_back(connected(path));
  connected_all.done();
  stopped.wait();
  for (const TestClient &client : clients)
    if (!client.control.send(packet(Kind::kOpenChannels, OpenChannels{{}, kMostChannelsAtOnce, 0})))
      _exit(4);
  asked.done();
  while (true) pause();
}

// Returns the text that answers kStatistics.
std::string text_from(const Socket &control) {
  std::string text;
  for (;;) {
    const std::optional<Bytes> answer = control.receive();
    std::span<const uint8_t> rest;
    const auto piece = answer ? fixed_part<Text>(*answer, Kind::kText, &rest) : std::nullopt;
    if (!piece) return "";
    text.append(reinterpret_cast<const char *>(rest.data()), rest.size());
    if (piece->is_last == 1) return text;
  }
}

// The service is stopped while both users send: the requests of the first user's sessions are there
// before the second user connects. The test counts how many of them the service answers before it
// admits the second user and answers it.
TEST(DaemonFairness, ManySessionsOfAUserDelayAnotherByAFewPackets) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const group *const theirs = getgrgid(kOther);
  if (theirs == nullptr) GTEST_SKIP() << "there is no group of that number";
  const lanecrypt::test::TemporaryFolder folder;
  ASSERT_EQ(0, chmod(folder.path().c_str(), 0711));
  DaemonProcess daemon({.arguments = {"--devices", "host", "--group", theirs->gr_name}},
                       folder.path() + "/socket");
  const Step connected_all, stopped, asked;
  const pid_t child = fork();
  if (child == 0) ask_for_channels(daemon.socket_path(), connected_all, stopped, asked);
  connected_all.wait();
  daemon.send_signal(SIGSTOP);
  stopped.done();
  asked.wait();
  const TestClient client(daemon.socket_path());
  EXPECT_TRUE(client.control.send(packet(Kind::kHello, Hello{})));
  EXPECT_TRUE(client.control.send(packet(Kind::kStatistics, Statistics{})));
  daemon.send_signal(SIGCONT);
  const std::optional<Bytes> answer = client.control.receive();
  EXPECT_TRUE(answer && fixed_part<Welcome>(*answer, Kind::kWelcome));
  const std::string text = text_from(client.control);
  (void)kill(child, SIGKILL);
  (void)waitpid(child, nullptr, 0);
  ASSERT_NE("", text);
  const auto told = nlohmann::json::parse(text);
  EXPECT_EQ(kSessions + 1, told["clients"]);
  EXPECT_LE(told["channels"], 32 * kMostChannelsAtOnce);
}

}  // namespace
}  // namespace lanecrypt::service::test
