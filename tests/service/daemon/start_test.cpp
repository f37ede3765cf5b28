// Tests how the service starts, and from where it gets its socket.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "daemon_process.h"
#include "test_client.h"

namespace lanecrypt::service::test {
namespace {

constexpr int kFirstOfSystemd = 3;

int listening_socket(const std::string &path, int type) {
  const int made = socket(AF_UNIX, type, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  EXPECT_EQ(0, bind(made, reinterpret_cast<const sockaddr *>(&address), sizeof address));
  EXPECT_EQ(0, listen(made, 16));
  return made;
}

// Called in the child: passes a socket as systemd does.
void hand_over(int socket, const char *count = "1") {
  dup2(socket, kFirstOfSystemd);
  setenv("LISTEN_PID", std::to_string(getpid()).c_str(), 1);
  setenv("LISTEN_FDS", count, 1);
}

std::string read_file(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(DaemonStart, ItsProcessIsHardened) {
  DaemonProcess daemon;
  const std::string folder = "/proc/" + std::to_string(daemon.number());
  EXPECT_NE(std::string::npos, read_file(folder + "/status").find("NoNewPrivs:\t1"));
  const std::string limits = read_file(folder + "/limits");
  EXPECT_NE(std::string::npos, limits.find("Max core file size        0 "));
  // The files in /proc of a process that is not dumpable belong to root.
  struct stat its {};
  ASSERT_EQ(0, stat((folder + "/environ").c_str(), &its));
  EXPECT_EQ(0u, its.st_uid);
  struct stat socket {};
  ASSERT_EQ(0, lstat(daemon.socket_path().c_str(), &socket));
  EXPECT_EQ(0u, socket.st_mode & 0007);
}

TEST(DaemonStart, ASocketOfSystemdIsTakenAndLeft) {
  const lanecrypt::test::TemporaryFolder folder;
  const std::string path = folder.path() + "/given";
  const int given = listening_socket(path, SOCK_SEQPACKET);
  DaemonProcess daemon({.in_child = [&] { hand_over(given); }});
  EXPECT_EQ(Outcome::kDone, TestClient(path).hello());
  EXPECT_NE(0, access(daemon.socket_path().c_str(), F_OK));
  daemon.send_signal(SIGTERM);
  EXPECT_EQ(0, daemon.wait());
  EXPECT_EQ(0, access(path.c_str(), F_OK));
  close(given);
}

TEST(DaemonStart, OnlyARightSocketIsTakenFromSystemd) {
  const lanecrypt::test::TemporaryFolder folder;
  const int stream = listening_socket(folder.path() + "/stream", SOCK_STREAM);
  const int good = listening_socket(folder.path() + "/good", SOCK_SEQPACKET);
  const int file = open((folder.path() + "/file").c_str(), O_CREAT | O_RDWR, 0600);
  const int deaf = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  const auto code_with = [&](int socket, const char *count) {
    DaemonProcess daemon({.in_child = [=] { hand_over(socket, count); }, .awaits_ready = false});
    const int code = daemon.wait();
    EXPECT_NE(std::string::npos, daemon.log().find("LISTEN_FDS")) << daemon.log();
    return code;
  };
  EXPECT_EQ(1, code_with(stream, "1"));
  EXPECT_EQ(1, code_with(file, "1"));
  EXPECT_EQ(1, code_with(deaf, "1"));
  EXPECT_EQ(1, code_with(good, "2"));
  for (const int each : {stream, good, file, deaf}) close(each);
}

// The variables are meant for another process.
TEST(DaemonStart, WhatIsForAnotherProcessIsNotTaken) {
  DaemonProcess daemon({.in_child = [] {
    setenv("LISTEN_PID", "1", 1);
    setenv("LISTEN_FDS", "1", 1);
  }});
  EXPECT_EQ(Outcome::kDone, TestClient(daemon.socket_path()).hello());
}

TEST(DaemonStart, SystemdIsTold) {
  const lanecrypt::test::TemporaryFolder folder;
  const std::string path = folder.path() + "/notify";
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(0, bind(socket, reinterpret_cast<const sockaddr *>(&address), sizeof address));
  DaemonProcess daemon({.environment = {{"NOTIFY_SOCKET", path}}});
  char text[64] = {};
  EXPECT_GT(recv(socket, text, sizeof text - 1, 0), 0);
  EXPECT_STREQ("READY=1", text);
  daemon.send_signal(SIGTERM);
  EXPECT_EQ(0, daemon.wait());
  const ssize_t bytes = recv(socket, text, sizeof text - 1, MSG_DONTWAIT);
  EXPECT_EQ("STOPPING=1", std::string(text, size_t(std::max<ssize_t>(0, bytes))));
  close(socket);
}

TEST(DaemonStart, OneServiceListensAtAPath) {
  DaemonProcess first;
  DaemonProcess second({.awaits_ready = false}, first.socket_path());
  EXPECT_EQ(1, second.wait());
  EXPECT_NE(std::string::npos, second.log().find("another lanecryptd listens there"));
  EXPECT_EQ(Outcome::kDone, TestClient(first.socket_path()).hello());
}

TEST(DaemonStart, ASocketThatWasLeftIsReplaced) {
  const lanecrypt::test::TemporaryFolder folder;
  const std::string path = folder.path() + "/socket";
  {
    DaemonProcess killed({}, path);
    killed.send_signal(SIGKILL);
    EXPECT_EQ(128 + SIGKILL, killed.wait());
  }
  EXPECT_EQ(0, access(path.c_str(), F_OK));
  DaemonProcess daemon({}, path);
  EXPECT_EQ(Outcome::kDone, TestClient(path).hello());
}

}  // namespace
}  // namespace lanecrypt::service::test
