// Tests of operations of threads that wait: keys, channels, many at once, and children of fork().
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/client/test_key.h"

namespace service_test {
namespace {

using Private = WithFake;

TEST_F(Private, BringsTheKeyOnce) {
  ASSERT_TRUE(connects());
  for (int n = 0; n < 10; ++n) EXPECT_EQ(OffloadResult::kDone, run(n));
  EXPECT_EQ(1, fake.sessions);
  EXPECT_EQ(1, fake.with_key);
  EXPECT_EQ(10, fake.requests);
  EXPECT_EQ(1, fake.opened);
  EXPECT_EQ(1u, connect()->keys);
  EXPECT_EQ(0u, connect()->under_way);
}

TEST_F(Private, NeedsASession) {
  EXPECT_EQ(OffloadResult::kNotTaken, run());
  EXPECT_EQ(0, fake.sessions);
}

TEST_F(Private, BringsTheKeyAgainToWhoHasForgottenIt) {
  ASSERT_TRUE(connects());
  EXPECT_EQ(OffloadResult::kDone, run());
  fake.answer = FakeService::Answer::kForgetsOnce;
  EXPECT_EQ(OffloadResult::kDone, run());
  EXPECT_EQ(2, fake.with_key);
  EXPECT_EQ(3, fake.requests);
  EXPECT_EQ(1u, connect()->keys);
}

TEST_F(Private, GivesUpWhereTheKeyIsNeverKnown) {
  ASSERT_TRUE(connects());
  fake.answer = FakeService::Answer::kUnknownKey;
  EXPECT_EQ(OffloadResult::kNotTaken, run());
  EXPECT_LE(fake.requests, 2);
  fake.answer = FakeService::Answer::kRight;
  EXPECT_EQ(OffloadResult::kDone, run());
}

TEST_F(Private, RemembersThatAKeyIsRefused) {
  ASSERT_TRUE(connects());
  fake.answer = FakeService::Answer::kOutcome;
  fake.outcome = Outcome::kBadKey;
  EXPECT_EQ(OffloadResult::kNotTaken, run());
  EXPECT_TRUE(key.is_refused());
}

TEST_F(Private, TellsFailuresFromWantOfRoom) {
  ASSERT_TRUE(connects());
  fake.answer = FakeService::Answer::kOutcome;
  for (const Outcome outcome : {Outcome::kBusy, Outcome::kNoDevice, Outcome::kBadInput}) {
    fake.outcome = outcome;
    EXPECT_EQ(OffloadResult::kNotTaken, run());
  }
  fake.outcome = Outcome::kFailed;
  EXPECT_EQ(OffloadResult::kFailed, run());
  EXPECT_FALSE(key.is_refused());
  // None of these outcomes ends the session.
  fake.answer = FakeService::Answer::kRight;
  EXPECT_EQ(OffloadResult::kDone, run());
  EXPECT_EQ(1, fake.sessions);
}

TEST_F(Private, ForgetsKeys) {
  ASSERT_TRUE(connects());
  EXPECT_EQ(OffloadResult::kDone, run());
  key.forget_in(*connect());
  EXPECT_TRUE(comes_true([&] { return fake.forgotten == 1; }));
  EXPECT_EQ(0u, connect()->keys);
  TestKey never_sent;
  never_sent.forget_in(*connect());
  EXPECT_EQ(OffloadResult::kDone, run());
  EXPECT_EQ(2, fake.with_key);
  EXPECT_EQ(1, fake.forgotten);
}

TEST_F(Private, LeavesNoMoreKeysThanAllowed) {
  fake.most_keys = 1;
  ASSERT_TRUE(connects());
  EXPECT_EQ(OffloadResult::kDone, run());
  TestKey second;
  const Bytes input = input_of(1);
  Bytes output(128);
  EXPECT_EQ(OffloadResult::kNotTaken, client::run_private(user.here(), second, input, output));
  key.forget_in(*connect());
  EXPECT_EQ(OffloadResult::kDone, client::run_private(user.here(), second, input, output));
}

TEST_F(Private, DoesNothingWithoutNumbers) {
  ASSERT_TRUE(connects());
  key.has_numbers = false;
  EXPECT_EQ(OffloadResult::kNotTaken, run());
  EXPECT_EQ(0, fake.requests);
  key.has_numbers = true;
  EXPECT_EQ(OffloadResult::kDone, run());
  EXPECT_EQ(1, fake.opened);
}

TEST_F(Private, OfTheLongestKey) {
  ASSERT_TRUE(connects());
  TestKey longest(1024);
  const Bytes input = input_of(3, 1024);
  Bytes output(1024);
  EXPECT_EQ(OffloadResult::kDone, client::run_private(user.here(), longest, input, output));
  EXPECT_EQ(reversed(input), output);
}

TEST_F(Private, OfManyThreads) {
  ASSERT_TRUE(connects());
  fake.delay_ms = 2;
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 200; ++t)
    threads.emplace_back([&, t] {
      for (int n = 0; n < 20; ++n) done += run(200 * n + t) == OffloadResult::kDone;
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(200 * 20, done);
  EXPECT_EQ(1, fake.sessions);
  EXPECT_LE(fake.opened, 256);
  EXPECT_EQ(0u, connect()->under_way);
}

TEST_F(Private, WithoutEnoughChannels) {
  fake.most_channels = 4;
  fake.delay_ms = 1;
  ASSERT_TRUE(connects());
  std::atomic<int> done{0}, not_taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 32; ++t)
    threads.emplace_back([&, t] {
      for (int n = 0; n < 20; ++n) {
        const OffloadResult taken = run(t);
        done += taken == OffloadResult::kDone;
        not_taken += taken == OffloadResult::kNotTaken;
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(32 * 20, done + not_taken);
  EXPECT_GT(done, 0);
  EXPECT_LE(fake.opened, 4);
}

// A timer of the program interrupts every wait.
TEST_F(Private, AmidSignals) {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) {};
  ASSERT_EQ(0, sigaction(SIGALRM, &action, &before));
  const itimerval often = {{0, 500}, {0, 500}}, never = {};
  ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, nullptr));
  EXPECT_NE(nullptr, connect());
  fake.delay_ms = 20;
  for (int n = 0; n < 20; ++n) EXPECT_EQ(OffloadResult::kDone, run(n));
  // Signals do not make the time limit longer either.
  fake.answer = FakeService::Answer::kNone;
  const auto began = client::Clock::now();
  EXPECT_EQ(OffloadResult::kFailed, run());
  EXPECT_LT(client::Clock::now() - began, seconds(20));
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
}

// Runs `what` in a child process and returns its exit status.
template <class What>
int in_child(const What &what) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(what());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(Private, AChildMakesItsOwnConnection) {
  ASSERT_TRUE(connects());
  EXPECT_EQ(OffloadResult::kDone, run());
  const auto numbers = [] {
    int count = 0;
    for (int n = 0; n < 4096; ++n) count += fcntl(n, F_GETFD) >= 0;
    return count;
  };
  const int before = numbers();
  const int status = in_child([&] {
    if (user.here().session() != nullptr) return 1;
    if (run() != OffloadResult::kNotTaken) return 2;
    if (connect() == nullptr) return 3;
    for (int n = 0; n < 5; ++n)
      if (run(n) != OffloadResult::kDone) return 4;
    // The copies of the parent's sockets are closed, and the child has its own sockets instead.
    if (numbers() != before) return 5;
    return in_child(
               [&] { return connect() != nullptr && run() == OffloadResult::kDone ? 0 : 1; }) == 0
               ? 0
               : 6;
  });
  EXPECT_EQ(0, status);
  EXPECT_EQ(3, fake.sessions);
  EXPECT_EQ(3, fake.with_key);
  for (int n = 0; n < 5; ++n) EXPECT_EQ(OffloadResult::kDone, run(n));
  EXPECT_EQ(3, fake.sessions);
}

// A child that is forked while other threads of its parent are at any point of an operation.
TEST_F(Private, AChildOfABusyParent) {
  ASSERT_TRUE(connects());
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      while (!ends) {
        EXPECT_EQ(OffloadResult::kDone, run(t));
        if (t == 0) key.forget_in(*connect());
      }
    });
  for (int n = 0; n < 40; ++n)
    EXPECT_EQ(
        0, in_child([&] { return connect() != nullptr && run() == OffloadResult::kDone ? 0 : 1; }));
  ends = true;
  for (std::thread &thread : threads) thread.join();
}

// A daemon closes all descriptors that it does not know, and opens its own files under their
// numbers.
TEST_F(Private, TheProgramTakesOurNumbers) {
  ASSERT_TRUE(connects());
  EXPECT_EQ(OffloadResult::kDone, run());
  const int status = in_child([&] {
    // In this process the client's own connection is closed.
    client::Client mine(client::ServiceAddress::named(fake.path()));
    TestKey own;
    const Bytes input = input_of(1);
    Bytes output(128);
    const auto run_mine = [&] { return client::run_private(mine.here(), own, input, output); };
    if (mine.here().connect(true) == nullptr || run_mine() != OffloadResult::kDone) return 1;
    std::vector<int> pipes;
    for (int n = 3; n < 2000; ++n) {
      if (fcntl(n, F_GETFD) < 0) continue;
      close(n);
      int ends[2];
      if (pipe(ends) != 0) return 2;
      const int higher = fcntl(ends[1], F_DUPFD, 3000);
      if (ends[0] != n) dup2(ends[0], n), close(ends[0]);
      close(ends[1]);
      pipes.push_back(n);
      pipes.push_back(higher);
    }
    if (run_mine() == OffloadResult::kDone) return 3;
    // Nothing was written to the program's files, and they are still open.
    for (const int one : pipes)
      if (fcntl(one, F_GETFD) < 0) return 4;
    for (size_t n = 0; n < pipes.size(); n += 2) {
      char byte;
      fcntl(pipes[n], F_SETFL, O_NONBLOCK);
      if (read(pipes[n], &byte, 1) >= 0) return 5;
    }
    // The program caused that, so it does not count as a loss of the service.
    if (mine.here().take_loss()) return 6;
    if (mine.here().connect(true) == nullptr || run_mine() != OffloadResult::kDone) return 7;
    return 0;
  });
  EXPECT_EQ(0, status);
}

TEST_F(Private, WithoutFreeDescriptors) {
  ASSERT_TRUE(connects());
  // UBSan needs a free descriptor to inspect the fixture itself.
  client::Client &own_user = user;
  TestKey &own_key = key;
  const int status = in_child([&own_user, &own_key] {
    const Bytes input = input_of(1);
    Bytes output(input.size());
    const auto run_one = [&] {
      return client::run_private(own_user.here(), own_key, input, output);
    };
    if (own_user.here().connect(true) == nullptr) return 1;
    std::vector<int> all;
    rlimit few = {256, 256};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int one; (one = dup(0)) >= 0;) all.push_back(one);
    if (run_one() != OffloadResult::kNotTaken) return 2;
    for (const int one : all) close(one);
    std::this_thread::sleep_for(milliseconds(1100));
    return run_one() == OffloadResult::kDone && output == reversed(input) ? 0 : 3;
  });
  EXPECT_EQ(0, status);
  EXPECT_EQ(2, fake.sessions);
}

TEST_F(Private, TakesNoStandardNumber) {
  const int status = in_child([&] {
    for (const int n : {0, 1, 2}) close(n);
    rlimit few = {512, 512};  // so that there are no high numbers
    setrlimit(RLIMIT_NOFILE, &few);
    if (connect() == nullptr || run() != OffloadResult::kDone) return 1;
    for (const int n : {0, 1, 2})
      if (fcntl(n, F_GETFD) >= 0) return 2;
    return 0;
  });
  EXPECT_EQ(0, status);
}

TEST(Client, LeavesNoDescriptor) {
  FakeService fake;
  const auto numbers = [] {
    int count = 0;
    for (int n = 0; n < 4096; ++n) count += fcntl(n, F_GETFD) >= 0;
    return count;
  };
  // The sockets of the fake service are in this process too. It closes them when a client has gone.
  const int before = numbers();
  for (int n = 0; n < 3; ++n) {
    client::Client user(client::ServiceAddress::named(fake.path()));
    TestKey key;
    const Bytes input = input_of(1);
    Bytes output(128);
    ASSERT_NE(nullptr, user.here().connect(true));
    EXPECT_EQ(OffloadResult::kDone, client::run_private(user.here(), key, input, output));
  }
  for (int wait = 0; wait < 5000 && numbers() != before; ++wait)
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(before, numbers());
}

}  // namespace
}  // namespace service_test
