// Tests failures around the service: a lost device, a log that is not read, no memory and no
// threads, and a user that sends too many requests.
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

#include <string>
#include <thread>

#include "daemon_process.h"
#include "service/wire/packets.h"
#include "test_client.h"
#include "test_scale.h"

namespace lanecrypt::service::test {
namespace {

using lanecrypt::test::extreme_inputs;
using lanecrypt::test::key_of_bits;

const std::pair<std::string, std::string> kLostSoon = {"LANECRYPT_HOST_FAULT", "lost-after:30"};

// Runs operations until one is not done. The service then has something to log.
void use_until_lost(const std::string &path) {
  TestClient client = connected(path);
  const std::vector<Socket> channels = client.open_channels(1);
  const TestKey &key = key_of_bits(kBits);
  const Bytes input = extreme_inputs(key, 1).back();
  for (int n = 0; n < 200; ++n)
    if (ask(channels[0], 5, key, input, true).outcome != Outcome::kDone) return;
  ADD_FAILURE() << "the device was not lost";
}

TEST(DaemonTrouble, ItEndsWithItsLastDeviceIfThatIsWanted) {
  DaemonProcess daemon(
      {.arguments = {"--devices", "host", "--end-if-lost"}, .environment = {kLostSoon}});
  use_until_lost(daemon.socket_path());
  EXPECT_EQ(75, daemon.wait());
  EXPECT_NE(std::string::npos, daemon.log().find("the last device is lost")) << daemon.log();
  EXPECT_NE(0, access(daemon.socket_path().c_str(), F_OK));
}

// A device that cannot be used at all does not end the service.
TEST(DaemonTrouble, ItStaysWithoutADevice) {
  DaemonProcess daemon({.arguments = {"--devices", "none", "--end-if-lost"}});
  TestClient client = connected(daemon.socket_path());
  EXPECT_TRUE(client.statistics()["devices"].empty());
  EXPECT_TRUE(daemon.is_running());
}

// Expects that the service loses its device, logs that, and goes on.
void expect_it_goes_on(const std::function<void()> &in_child) {
  DaemonProcess daemon({.environment = {kLostSoon}, .in_child = in_child});
  use_until_lost(daemon.socket_path());
  TestClient client = connected(daemon.socket_path());
  EXPECT_TRUE(comes_true([&] { return client.page()->usable_devices == 0; }));
  EXPECT_EQ("lost", client.statistics()["devices"][0]["rsa_state"]);
  daemon.send_signal(SIGTERM);
  EXPECT_EQ(0, daemon.wait());
}

TEST(DaemonTrouble, ItGoesOnWhenNobodyHasItsLog) {
  int log[2];
  ASSERT_EQ(0, pipe2(log, O_CLOEXEC));
  close(log[0]);
  expect_it_goes_on([&] { dup2(log[1], STDERR_FILENO); });
  close(log[1]);
}

TEST(DaemonTrouble, ItGoesOnWhenNobodyReadsItsLog) {
  int log[2];
  ASSERT_EQ(0, pipe2(log, O_CLOEXEC | O_NONBLOCK));
  const std::string piece(4096, '-');
  while (write(log[1], piece.data(), piece.size()) > 0) {
  }
  ASSERT_EQ(0, fcntl(log[1], F_SETFL, 0));
  expect_it_goes_on([&] { dup2(log[1], STDERR_FILENO); });
  for (const int each : log) close(each);
}

// As on a full disk.
TEST(DaemonTrouble, ItGoesOnWhenItsLogHasNoRoom) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  expect_it_goes_on([&] { dup2(full, STDERR_FILENO); });
  close(full);
  expect_it_goes_on([] {
    const std::string all(8192, '-');
    if (write(STDERR_FILENO, all.data(), all.size()) < 0) _exit(3);
    const rlimit here{8192, 8192};
    (void)setrlimit(RLIMIT_FSIZE, &here);
  });
}

// The service starts, or reports why it does not. With some of these limits it has no memory, and
// with others none for the stacks of its threads.
TEST(DaemonTrouble, WithoutMemoryItSaysSo) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer needs more than any of these limits";
  constexpr rlim_t kMiB = 1 << 20;
  int failed = 0;
  for (rlim_t most = 60 * kMiB; most <= 400 * kMiB; most += 40 * kMiB) {
    DaemonProcess daemon({.in_child =
                              [=] {
                                const rlimit limit{most, most};
                                (void)setrlimit(RLIMIT_AS, &limit);
                              },
                          .awaits_ready = false});
    // The log says that it listens, or what failed.
    EXPECT_TRUE(comes_true([&] { return daemon.log() != ""; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    daemon.send_signal(SIGTERM);
    const int code = daemon.wait();
    SCOPED_TRACE(std::to_string(most / kMiB) + " MiB: " + daemon.log());
    // 127: the program's libraries could not be loaded.
    EXPECT_TRUE(code == 0 || code == 1 || code == 127) << code;
    if (code == 0) continue;
    ++failed;
    EXPECT_NE("", daemon.log());
  }
  EXPECT_GT(failed, 0) << "this test limits nothing";
}

// A report takes the main thread longer than other packets. A user that requests too many is
// refused; the service's owner is served.
TEST(DaemonTrouble, AUserWhoAsksTooOftenIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  constexpr uid_t kOther = 65534;
  const group *const theirs = getgrgid(kOther);
  if (theirs == nullptr) GTEST_SKIP() << "there is no group of that number";
  const lanecrypt::test::TemporaryFolder folder;
  ASSERT_EQ(0, chmod(folder.path().c_str(), 0711));
  DaemonProcess daemon({.arguments = {"--devices", "host", "--group", theirs->gr_name}},
                       folder.path() + "/socket");
  TestClient owner = connected(daemon.socket_path());
  const pid_t child = fork();
  if (child == 0) {
    if (setgroups(0, nullptr) != 0 || setgid(kOther) != 0 || setuid(kOther) != 0) _exit(3);
    TestClient client = connected(daemon.socket_path());
    int told = 0, refused = 0;
    while (told + refused < 500) {
      if (!client.control.send(packet(Kind::kStatistics, Statistics{}))) _exit(4);
      for (bool is_last = false; !is_last;) {
        const std::optional<Bytes> answer = client.control.receive();
        if (!answer) _exit(5);
        const auto no = fixed_part<Refused>(*answer, Kind::kRefused);
        std::span<const uint8_t> rest;
        const auto text = fixed_part<Text>(*answer, Kind::kText, &rest);
        if (!no && !text) _exit(6);
        if (no && no->outcome != Outcome::kBusy) _exit(7);
        is_last = no || text->is_last != 0;
        told += text && is_last;
        refused += bool(no);
      }
    }
    _exit(told >= 20 && refused >= 100 ? 0 : 8);
  }
  for (int n = 0; n < 100; ++n) EXPECT_FALSE(owner.statistics().is_null());
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
}

}  // namespace
}  // namespace lanecrypt::service::test
