// Tests small parts of the service: limits, the page, histograms, sockets.
//
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

#include "service/daemon/client/channel.h"
#include "service/daemon/client/control_queue.h"
#include "service/daemon/client/peer.h"
#include "service/daemon/client/refusals.h"
#include "service/daemon/client/session.h"
#include "service/daemon/client/user.h"
#include "service/daemon/failure.h"
#include "service/daemon/quota.h"
#include "service/daemon/rate.h"
#include "service/daemon/report/histogram.h"
#include "service/daemon/report/page.h"
#include "service/daemon/service.h"
#include "service/daemon/system/listener.h"
#include "service/daemon/system/runnable.h"
#include "temporary_folder.h"

namespace lanecrypt::service::daemon {
namespace {

TEST(Quotas, AreLimitedAndGivenBack) {
  std::atomic<size_t> taken = 0;
  {
    Quota first(taken, 3, 2);
    EXPECT_TRUE(first.ok());
    EXPECT_FALSE(Quota(taken, 3, 2).ok());
    EXPECT_EQ(2u, taken);
    Quota second(taken, 3);
    EXPECT_TRUE(second.ok());
    Quota moved = std::move(second);
    EXPECT_TRUE(moved.ok());
    EXPECT_EQ(3u, taken);
    EXPECT_FALSE(Quota(taken, 3).ok());
  }
  EXPECT_EQ(0u, taken);
  EXPECT_FALSE(Quota(taken, 0).ok());
}

TEST(Rate, AllowsSomeAtOnceAndThenOneEach) {
  using namespace std::chrono_literals;
  Rate rate(100ms, 3);
  Rate::Clock::time_point now{};
  const auto takes = [&] {
    int count = 0;
    while (rate.take(now)) ++count;
    return count;
  };
  EXPECT_EQ(3, takes());
  now += 99ms;
  EXPECT_EQ(0, takes());
  now += 1ms;
  EXPECT_EQ(1, takes());
  now += 250ms;
  EXPECT_EQ(2, takes());
  // The remainder is kept: this is half an interval later.
  now += 50ms;
  EXPECT_EQ(1, takes());
  now += 1h;
  EXPECT_EQ(3, takes());
}

// Otherwise a user that disconnects and connects again could get any number of reports.
TEST(Rate, MayBeChargedMoreThanIsLeft) {
  using namespace std::chrono_literals;
  Rate rate(100ms, 3);
  Rate::Clock::time_point now{};
  rate.charge(now, 2);
  EXPECT_LE(rate.free_at(), now);
  rate.charge(now, 5);
  EXPECT_EQ(now + 500ms, rate.free_at());
  EXPECT_FALSE(rate.take(now + 499ms));
  EXPECT_TRUE(rate.take(now + 500ms));
}

TEST(Users, WhoConnectsTooOftenIsSentAway) {
  Users users;
  Users::Time now{};
  std::shared_ptr<User> one = users.find(1, now);
  for (size_t n = 0; n < kConnectionsAtOnce; ++n) EXPECT_TRUE(users.takes_connection(1, now));
  EXPECT_FALSE(users.takes_connection(1, now));
  EXPECT_TRUE(users.takes_connection(2, now));
  // Also after the user's last client has gone and others have come.
  one.reset();
  (void)users.find(3, now);
  EXPECT_FALSE(users.takes_connection(1, now));
  EXPECT_TRUE(users.takes_connection(1, now + kConnectionsEach));
}

// ---- Control packets --------------------------------------------------------

// A user with a thousand clients that always have packets, and then another user.
TEST(ControlQueueTest, AUserOfManyClientsDelaysAnotherByOnePacket) {
  ControlQueue queue;
  const ControlQueue::Time now{};
  for (uint64_t client = 0; client < 1000; ++client) queue.add(1, client, now);
  for (int n = 0; n < 10; ++n) {
    queue.add(2, 5000 + n, now);
    bool is_served = false;
    for (int turn = 0; turn < 2; ++turn) {
      const auto next = queue.next(now);
      ASSERT_TRUE(next);
      queue.charge(next->user, 1, now);
      is_served |= next->user == 2;
    }
    EXPECT_TRUE(is_served) << n;
  }
}

TEST(ControlQueueTest, ClientsOfAUserTakeTurns) {
  ControlQueue queue;
  const ControlQueue::Time now{};
  for (uint64_t client = 0; client < 3; ++client) queue.add(1, client, now);
  for (uint64_t client : {0, 1, 2, 0, 1, 2}) {
    const auto next = queue.next(now);
    ASSERT_TRUE(next);
    EXPECT_EQ(client, next->client);
    queue.add(1, client, now);
  }
}

TEST(ControlQueueTest, AUserWhoWantsTooMuchWaitsAndNobodyElse) {
  ControlQueue queue;
  ControlQueue::Time now{};
  size_t served = 0;
  const auto serve_all = [&] {
    for (served = 0;; ++served) {
      queue.add(1, 1, now);
      const auto next = queue.next(now);
      if (!next) return;
      queue.charge(next->user, 32, now);
    }
  };
  EXPECT_FALSE(queue.ready_at());
  serve_all();
  EXPECT_LE(served, kControlAtOnce / 32 + 1);
  ASSERT_TRUE(queue.ready_at());
  EXPECT_GT(*queue.ready_at(), now);
  queue.add(2, 7, now);
  EXPECT_LE(*queue.ready_at(), now);
  const auto other = queue.next(now);
  ASSERT_TRUE(other);
  EXPECT_EQ(2u, other->user);
  EXPECT_FALSE(queue.next(now));
  // Later the user is served again. Its wait does not raise its rate.
  now = *queue.ready_at();
  EXPECT_TRUE(queue.next(now));
  queue.charge(1, 32, now);
  now += 1000 * kControlEach;
  serve_all();
  EXPECT_LE(served, 1000u / 32 + 2);
}

TEST(Users, WhoComesAgainHasNoMoreReports) {
  using namespace std::chrono_literals;
  Users users;
  Users::Time now{};
  const auto takes = [&] {
    const std::shared_ptr<User> user = users.find(7, now);
    size_t count = 0;
    while (users.takes_report(*user, now)) ++count;
    return count;
  };
  EXPECT_EQ(kReportsAtOnce, takes());
  // Other users come, and those that have gone are forgotten.
  EXPECT_NE(nullptr, users.find(8, now));
  EXPECT_EQ(0u, takes());
  now += 1h;
  EXPECT_NE(nullptr, users.find(8, now));
  EXPECT_EQ(kReportsAtOnce, takes());
}

// Two users who take turns to go and come would otherwise always come before a third one.
TEST(Users, WhoComesAgainIsStillCharged) {
  using namespace std::chrono_literals;
  Users users;
  Users::Time now{};
  users.find(7, now)->key_queue.charged = 5s;
  EXPECT_EQ(0u, users.all().size());
  EXPECT_NE(nullptr, users.find(8, now));
  const std::shared_ptr<User> again = users.find(7, now + kUserRemembered / 2);
  EXPECT_EQ(5s, again->key_queue.charged);
  EXPECT_EQ(1u, users.all().size());
  // A user with clients is not forgotten.
  now += 1h;
  EXPECT_NE(nullptr, users.find(8, now));
  EXPECT_EQ(again, users.find(7, now));
}

TEST(Refusals, AreAllCountedAndSomeAreTold) {
  using namespace std::chrono_literals;
  std::atomic<uint64_t> count = 0;
  Refusals refusals(count);
  std::chrono::steady_clock::time_point now{};
  const auto told = [&](int times, std::optional<uid_t> user = 7) {
    testing::internal::CaptureStderr();
    for (int n = 0; n < times; ++n) refusals.add(user, "may not connect", now);
    return testing::internal::GetCapturedStderr();
  };
  const std::string line = "lanecryptd: turned away: user 7 may not connect";
  EXPECT_EQ(line + "\n", told(1));
  EXPECT_EQ("lanecryptd: turned away: somebody may not connect\n", told(1, std::nullopt));
  (void)told(int(kRefusalLinesAtOnce) - 2);
  EXPECT_EQ("", told(5));
  EXPECT_EQ(kRefusalLinesAtOnce + 5, count);
  now += kRefusalLinesEach;
  EXPECT_EQ(line + " (and 5 more before)\n", told(2));
  now += 1h;
  EXPECT_EQ(line + " (and 1 more before)\n", told(1));
}

TEST(Quotas, AreNeverTooManyWhereThreadsMeet) {
  std::atomic<size_t> taken = 0;
  std::atomic<size_t> most = 0;
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&] {
      for (int round = 0; round < 20000; ++round) {
        const Quota quota(taken, 3);
        const size_t now = taken;
        if (quota.ok() && now > most) most = now;
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(0u, taken);
  EXPECT_LE(most, 3u);
}

TEST(PageOfService, CanOnlyBeReadByOthers) {
  Page page;
  page.status().usable_devices = 7;
  // The descriptor as a client gets it.
  const int theirs = dup(page.descriptor());
  EXPECT_EQ(MAP_FAILED,
            mmap(nullptr, kStatusPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, theirs, 0));
  EXPECT_EQ(EPERM, errno);
  const char byte = 1;
  EXPECT_EQ(-1, pwrite(theirs, &byte, 1, 0));
  EXPECT_EQ(-1, ftruncate(theirs, 0));
  EXPECT_EQ(-1, ftruncate(theirs, 2 * kStatusPageBytes));
  EXPECT_EQ(-1, fcntl(theirs, F_ADD_SEALS, F_SEAL_WRITE));
  void *const mapped = mmap(nullptr, kStatusPageBytes, PROT_READ, MAP_SHARED, theirs, 0);
  ASSERT_NE(MAP_FAILED, mapped);
  EXPECT_EQ(-1, mprotect(mapped, kStatusPageBytes, PROT_READ | PROT_WRITE));
  const auto *const status = static_cast<const StatusPage *>(mapped);
  EXPECT_EQ(kPageMagic, status->magic);
  EXPECT_EQ(kPageVersion, status->version);
  EXPECT_EQ(7u, status->usable_devices);
  page.status().operations = 9;
  EXPECT_EQ(9u, status->operations);
  munmap(mapped, kStatusPageBytes);
  close(theirs);
}

TEST(Latencies, FollowTheLastOnesBySizeAndLoad) {
  Page page;
  StatusPage &status = page.status();
  const auto known = [&](uint32_t bits, uint32_t load) {
    return status.rsa_us[StatusPage::size_of(bits)][StatusPage::load_of(load)].load();
  };
  const auto note = [&](uint32_t bits, uint32_t load, uint64_t us) {
    note_latency(status, {Family::kRsa, bits}, load, us);
  };
  note(2048, 1, 1000);
  EXPECT_EQ(1000u, known(2048, 1));
  EXPECT_EQ(0u, known(2048, 2));
  EXPECT_EQ(0u, known(2049, 1));
  note(2048, 1, 1800);
  EXPECT_EQ(1100u, known(2048, 1));
  for (int n = 0; n < 200; ++n) note(2048, 1, 0);
  EXPECT_GE(known(2048, 1), 1u);
  EXPECT_LT(known(2048, 1), 10u);
  // Any size and load.
  note(8192, UINT32_MAX, UINT64_MAX);
  EXPECT_EQ(UINT32_MAX / 2, known(8192, UINT32_MAX));
  // Each set has its own times.
  note_latency(status, {Family::kMlDsa, 65}, 1, 700);
  EXPECT_EQ(0u, status.sign_us[0][1]);
  EXPECT_EQ(700u, status.sign_us[1][1]);
  EXPECT_EQ(0u, status.sign_us[2][1]);
}

TEST(Histograms, CountEachValueOnce) {
  Histogram histogram(2);
  for (const uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{4}, uint64_t{5}, uint64_t{8},
                               uint64_t{9}, UINT64_MAX / 4})
    histogram.add(value);
  EXPECT_EQ(4u, histogram.bound(0));
  EXPECT_EQ(3u, histogram.count(0));
  EXPECT_EQ(8u, histogram.bound(1));
  EXPECT_EQ(2u, histogram.count(1));
  EXPECT_EQ(1u, histogram.count(2));
  EXPECT_EQ(1u, histogram.count(Histogram::kBuckets - 1));
  EXPECT_EQ(27 + UINT64_MAX / 4, histogram.sum());
}

TEST(Runnable, IsReadFromTheKernelsText) {
  EXPECT_EQ(3u, RunnableTasks::parse("0.20 0.18 0.12 3/417 11206\n"));
  EXPECT_EQ(1234u, RunnableTasks::parse("9.00 9.00 9.00 1234/99999 1"));
  for (const char *wrong : {"", "1/2", "0.2 0.1 0.1 x/4 1", "0.2 0.1 0.1 /4", "nothing"})
    EXPECT_EQ(std::nullopt, RunnableTasks::parse(wrong)) << wrong;
  EXPECT_GE(RunnableTasks().count().value_or(0), 1u);
}

TEST(Peers, AreAdmittedByUserAndGroup) {
  const Admitted nobody_else, group{gid_t{4242}};
  const auto peer = [](uid_t user, gid_t first, std::vector<gid_t> others) {
    Peer made;
    made.user = user;
    made.group = first;
    made.groups = std::move(others);
    return made;
  };
  EXPECT_TRUE(nobody_else.allows(peer(0, 0, {})));
  EXPECT_TRUE(nobody_else.allows(peer(geteuid(), 9, {})));
  EXPECT_FALSE(nobody_else.allows(peer(65533, 0, {0, 4242})));
  EXPECT_TRUE(group.allows(peer(65533, 4242, {})));
  EXPECT_TRUE(group.allows(peer(65533, 9, {1, 4242, 7})));
  EXPECT_FALSE(group.allows(peer(65533, 9, {1, 4241})));
  EXPECT_FALSE(group.is_owner(peer(65533, 4242, {})));
}

TEST(Peers, AreThoseOfTheSocket) {
  int pair[2];
  ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
  const std::optional<Peer> peer = Peer::of(pair[0]);
  ASSERT_TRUE(peer);
  EXPECT_EQ(geteuid(), peer->user);
  EXPECT_EQ(getegid(), peer->group);
  EXPECT_EQ(size_t(getgroups(0, nullptr)), peer->groups.size());
  EXPECT_TRUE(peer->process.ok());
  close(pair[0]);
  close(pair[1]);
}

// Returns a peer for these results of the system calls; negative values are -errno.
std::optional<Peer> peer_where(int of_peer, int open_process) {
  const auto call = [](int value) {
    if (value < 0) errno = -value;
    return value < 0 ? -1 : value;
  };
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0) return std::nullopt;
  std::optional<Peer> peer = Peer::of(
      pair[0], {[=](int) { return call(of_peer); }, [=](pid_t) { return call(open_process); }});
  close(pair[0]);
  close(pair[1]);
  return peer;
}

// For a peer that was reaped, Linux 6.5 to 6.15 gives EINVAL.
TEST(Peers, AreRefusedIfTheKernelDoesNotNameTheirProcess) {
  for (const int error :
       {EINVAL, ESRCH, ENODATA, EMFILE, ENFILE, ENOMEM, EPERM, EACCES, EIO, ENOSYS}) {
    const std::optional<Peer> peer = peer_where(-error, -ENOSYS);
    ASSERT_TRUE(peer);
    EXPECT_TRUE(peer->has_ended) << std::strerror(error);
  }
  for (const int error : {EINVAL, ESRCH, EMFILE, ENFILE, ENOMEM}) {
    const std::optional<Peer> peer = peer_where(-ENOPROTOOPT, -error);
    ASSERT_TRUE(peer);
    EXPECT_TRUE(peer->has_ended) << std::strerror(error);
  }
}

// As on Linux before 6.5, and before 5.3.
TEST(Peers, AreAdmittedIfTheKernelCannotNameProcesses) {
  for (const int error : {ENOSYS, EPERM}) {
    const std::optional<Peer> peer = peer_where(-ENOPROTOOPT, -error);
    ASSERT_TRUE(peer);
    EXPECT_FALSE(peer->has_ended) << std::strerror(error);
    EXPECT_FALSE(peer->process.ok());
  }
}

// From Linux 6.16 on, SO_PEERPIDFD gives a descriptor of a process that was reaped.
TEST(Peers, AreRefusedIfTheirProcessHasEnded) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  const int ended = int(syscall(SYS_pidfd_open, child, 0));
  if (ended < 0) GTEST_SKIP() << "this kernel has no pidfd_open()";
  siginfo_t ignored{};
  ASSERT_EQ(0, waitid(P_PID, id_t(child), &ignored, WEXITED | WNOWAIT));
  EXPECT_TRUE(peer_where(dup(ended), -ENOSYS)->has_ended);
  EXPECT_TRUE(peer_where(-ENOPROTOOPT, dup(ended))->has_ended);
  (void)waitpid(child, nullptr, 0);
  EXPECT_TRUE(peer_where(ended, -ENOSYS)->has_ended);
}

// ---- Sessions ----

// A request may be answered on the library's thread, whose results others wait for, or on the main
// thread. Ending a session of thousands of channels takes longer than these may be busy.
TEST(Releases, EndSessionsWhoseAnswersHaveNoRoom) {
  Service service("none", LC_VERIFY_SAMPLED, 4096);
  service.channel_threads.start(1);
  const auto session = std::make_shared<Session>(service, Descriptor(), Peer(),
                                                 std::make_shared<User>(7), Session::Quotas());
  int ends[2];
  ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends));
  const Descriptor theirs(ends[1]);
  const auto channel = std::make_shared<Channel>(session, Descriptor(ends[0]), Quota(),
                                                 DescriptorQuota(), service.counters);
  ASSERT_TRUE(service.channel_threads.add(channel));
  ASSERT_TRUE(session->add(channel));
  while (send(ends[0], "unread", 6, MSG_NOSIGNAL) == 6) {
  }
  channel->begin(Kind::kRsaPrivate);
  service.operations.arrive(*channel, {Family::kRsa, 2048});
  service.operations.finish(*channel, Outcome::kBusy);
  EXPECT_FALSE(session->has_ended());
  channel->begin(Kind::kRsaGenerate);
  channel->request.bits = 2048;
  service.searches.stop();
  service.searches.add(*channel);
  EXPECT_FALSE(session->has_ended());
  service.releases.start();
  service.releases.stop();
  EXPECT_TRUE(session->has_ended());
  service.channel_threads.stop();
}

// ---- The socket -------------------------------------------------------------

class ListenerTest : public testing::Test {
 protected:
  std::string why_not(const std::string &path) {
    try {
      const Listener listener(path, std::nullopt, false);
      return "";
    } catch (const Failure &failure) {
      return failure.what();
    }
  }
  static mode_t mode_of(const std::string &path) {
    struct stat its {};
    return lstat(path.c_str(), &its) == 0 ? its.st_mode & 07777 : mode_t(-1);
  }
  static bool is_there(const std::string &path) { return mode_of(path) != mode_t(-1); }

  const test::TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/socket";
};

TEST_F(ListenerTest, MakesASocketForItsOwnerAndRemovesIt) {
  {
    const Listener listener(path_, std::nullopt, false);
    EXPECT_EQ(0600u, mode_of(path_));
    EXPECT_NE(std::string::npos, why_not(path_).find("another lanecryptd"));
    EXPECT_TRUE(is_there(path_));
  }
  EXPECT_FALSE(is_there(path_));
  EXPECT_FALSE(is_there(path_ + ".lock"));
}

TEST_F(ListenerTest, GivesTheSocketToAGroup) {
  const Listener listener(path_, getegid(), true);
  EXPECT_EQ(0660u, mode_of(path_));
}

// Each that is accepted before another user's takes the main thread some microseconds.
TEST_F(ListenerTest, KeepsFewConnections) {
  const Listener listener(path_, std::nullopt, false);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path_.c_str());
  std::vector<Descriptor> connected;
  for (;;) {
    Descriptor next(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (connect(next.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0)
      break;
    connected.push_back(std::move(next));
    ASSERT_LE(connected.size(), size_t{256});
  }
  EXPECT_EQ(EAGAIN, errno);
}

TEST_F(ListenerTest, ReplacesAStaleSocketAlone) {
  const int old = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path_.c_str());
  ASSERT_EQ(0, bind(old, reinterpret_cast<const sockaddr *>(&address), sizeof address));
  ASSERT_EQ(0, listen(old, 1));
  EXPECT_NE(std::string::npos, why_not(path_).find("somebody listens"));
  EXPECT_TRUE(is_there(path_));
  close(old);
  EXPECT_EQ("", why_not(path_));
}

TEST_F(ListenerTest, LeavesOtherFilesAlone) {
  close(open(path_.c_str(), O_CREAT | O_WRONLY, 0600));
  EXPECT_NE(std::string::npos, why_not(path_).find("no socket"));
  EXPECT_TRUE(is_there(path_));
  EXPECT_FALSE(is_there(path_ + ".lock"));
}

TEST_F(ListenerTest, DoesNotRemoveTheSocketOfAnother) {
  {
    const Listener listener(path_, std::nullopt, false);
    ASSERT_EQ(0, unlink(path_.c_str()));
    close(open(path_.c_str(), O_CREAT | O_WRONLY, 0600));
  }
  EXPECT_TRUE(is_there(path_));
}

TEST_F(ListenerTest, WantsAFolderThatOthersCannotChange) {
  ASSERT_EQ(0, chmod(folder_.path().c_str(), 0777));
  EXPECT_NE(std::string::npos, why_not(path_).find("may write there"));
  ASSERT_EQ(0, chmod(folder_.path().c_str(), 01777));
  EXPECT_NE(std::string::npos, why_not(path_).find("may write there"));
  ASSERT_EQ(0, chmod(folder_.path().c_str(), 0770));
  EXPECT_NE(std::string::npos, why_not(path_).find("may write there"));
  ASSERT_EQ(0, chmod(folder_.path().c_str(), 0755));
  EXPECT_EQ("", why_not(path_));
  EXPECT_NE("", why_not(folder_.path() + "/none/socket"));
}

// Who writes to a folder above can exchange the whole folder, also while we change the socket.
TEST_F(ListenerTest, WantsFoldersThatOthersCannotExchange) {
  const std::string folder = folder_.path() + "/folder", link = folder_.path() + "/link";
  ASSERT_EQ(0, mkdir(folder.c_str(), 0755));
  ASSERT_EQ(0, symlink(folder.c_str(), link.c_str()));
  for (const std::string &path : {folder + "/socket", link + "/socket"}) {
    EXPECT_EQ("", why_not(path));
    ASSERT_EQ(0, chmod(folder_.path().c_str(), 0777));
    EXPECT_NE(std::string::npos, why_not(path).find("may write to this folder"));
    ASSERT_EQ(0, chmod(folder_.path().c_str(), 01777));
    EXPECT_EQ("", why_not(path));
    ASSERT_EQ(0, chmod(folder_.path().c_str(), 0755));
  }
  if (geteuid() != 0) return;  // only root gives a folder away
  ASSERT_EQ(0, chown(folder_.path().c_str(), 4711, gid_t(-1)));
  EXPECT_NE(std::string::npos, why_not(folder + "/socket").find("belongs to another user"));
  ASSERT_EQ(0, chown(folder_.path().c_str(), 0, gid_t(-1)));
}

TEST_F(ListenerTest, WantsAPathThatFits) {
  EXPECT_NE("", why_not(""));
  EXPECT_NE(std::string::npos, why_not("/" + std::string(200, 'x')).find("107"));
}

}  // namespace
}  // namespace lanecrypt::service::daemon
