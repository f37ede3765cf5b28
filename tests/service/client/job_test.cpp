// Tests of the descriptors on which ASYNC jobs wait. They do without OpenSSL what the provider does
// in a job.
//
// SPDX-License-Identifier: Apache-2.0
#include "service/client/job_watch.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <deque>

#include "service/client/test_key.h"

namespace service_test {
namespace {

using State = client::Exchange::State;

// A job with its operation.
struct Job {
  client::JobWatch watch;
  Bytes input, output;
  std::optional<client::Exchange> exchange;
  client::Channel *channel = nullptr;
  uint64_t operation = 0;

  bool begin(const std::shared_ptr<client::Session> &session, TestKey &key, int seed) {
    input = input_of(seed);
    output.assign(input.size(), 0);
    channel = watch.prepare(session);
    if (channel == nullptr) return false;
    exchange.emplace(watch.session(), *channel, key, input, output);
    if (exchange->send() != State::kWaits) return false;
    operation = watch.begin();
    return true;
  }
  bool is_woken(int ms = 0) const {
    pollfd one = {watch.descriptor(), POLLIN, 0};
    return poll(&one, 1, ms) == 1;
  }
  // Does what the provider does when the job is resumed.
  State look() {
    if (!watch.has(operation)) return State::kEnded;
    State state = exchange->receive(false);
    if (state == State::kWaits && watch.session().is_silent(*channel)) {
      watch.session().end(client::Fault::kService);
      state = State::kEnded;
    }
    if (state == State::kEnded) watch.drop();
    if (state == State::kDone || state == State::kRefused) watch.finish();
    return state;
  }
  bool is_right() const { return output == reversed(input); }
};

using Jobs = WithFake;

TEST_F(Jobs, AreWokenByTheirDescriptors) {
  const auto session = connect();
  ASSERT_NE(nullptr, session);
  fake.delay_ms = 20;
  std::deque<Job> jobs(100);
  for (int round = 0; round < 3; ++round) {
    int n = 0;
    for (Job &job : jobs) ASSERT_TRUE(job.begin(session, key, ++n));
    EXPECT_EQ(100u, session->under_way);
    for (Job &job : jobs) {
      ASSERT_TRUE(job.is_woken(5000));
      ASSERT_EQ(State::kDone, job.look());
      EXPECT_TRUE(job.is_right());
      // An old answer does not wake the job.
      EXPECT_FALSE(job.is_woken());
    }
  }
  EXPECT_EQ(0u, session->under_way);
  EXPECT_LE(fake.opened, 128);
}

TEST_F(Jobs, ThatLookTooEarlyWaitOn) {
  const auto session = connect();
  fake.delay_ms = 100;
  Job job;
  ASSERT_TRUE(job.begin(session, key, 1));
  for (int n = 0; n < 10; ++n) EXPECT_EQ(State::kWaits, job.look());
  EXPECT_TRUE(job.is_woken(5000));
  EXPECT_EQ(State::kDone, job.look());
}

TEST_F(Jobs, OfAForgottenKeyWaitOn) {
  const auto session = connect();
  Job job;
  ASSERT_TRUE(job.begin(session, key, 1));
  ASSERT_TRUE(job.is_woken(5000));
  ASSERT_EQ(State::kDone, job.look());
  fake.answer = FakeService::Answer::kForgetsOnce;
  ASSERT_TRUE(job.begin(session, key, 2));
  ASSERT_TRUE(job.is_woken(5000));
  EXPECT_EQ(State::kWaits, job.look());
  ASSERT_TRUE(job.is_woken(5000));
  EXPECT_EQ(State::kDone, job.look());
  EXPECT_TRUE(job.is_right());
}

// A job that is never resumed leaves its channel with an answer to come.
TEST_F(Jobs, ThatAreAbandonedLeaveNothing) {
  const auto session = connect();
  fake.delay_ms = 50;
  {
    Job job;
    ASSERT_TRUE(job.begin(session, key, 1));
  }
  EXPECT_EQ(0u, session->under_way);
  EXPECT_TRUE(comes_true([&] { return fake.closed_channels == 1; }));
  // Another job with the same wait context.
  Job job;
  ASSERT_TRUE(job.begin(session, key, 2));
  const uint64_t first = job.operation;
  ASSERT_TRUE(job.begin(session, key, 3));
  EXPECT_FALSE(job.watch.has(first));
  ASSERT_TRUE(job.is_woken(5000));
  EXPECT_EQ(State::kDone, job.look());
  EXPECT_TRUE(job.is_right());
  EXPECT_EQ(0u, session->under_way);
}

TEST_F(Jobs, AllWakeWhenTheServiceGoes) {
  const auto session = connect();
  fake.answer = FakeService::Answer::kNone;
  std::deque<Job> jobs(50);
  for (Job &job : jobs) ASSERT_TRUE(job.begin(session, key, 1));
  EXPECT_TRUE(comes_true([&] { return fake.requests == 50; }));
  fake.stop();
  for (Job &job : jobs) {
    ASSERT_TRUE(job.is_woken(5000));
    EXPECT_EQ(State::kEnded, job.look());
  }
  EXPECT_EQ(0u, session->under_way);
}

TEST_F(Jobs, AllWakeWhenTheServiceIsSilent) {
  const auto session = connect();
  fake.answer = FakeService::Answer::kNone;
  std::deque<Job> jobs(5);
  const auto began = client::Clock::now();
  for (Job &job : jobs) {
    ASSERT_TRUE(job.begin(session, key, 1));
    std::this_thread::sleep_for(milliseconds(200));
  }
  // Later jobs wake because the first has ended the session.
  ASSERT_TRUE(jobs[0].is_woken(8000));
  EXPECT_EQ(State::kEnded, jobs[0].look());
  for (size_t n = 1; n < jobs.size(); ++n) {
    ASSERT_TRUE(jobs[n].is_woken(100)) << n;
    EXPECT_EQ(State::kEnded, jobs[n].look());
  }
  EXPECT_GT(client::Clock::now() - began, seconds(4));
}

// A job that the timer wakes checks the channels of all jobs.
TEST_F(Jobs, AnyJobNoticesTheSilenceOfAnother) {
  const auto session = connect();
  fake.answer = FakeService::Answer::kNone;
  Job first, last;
  ASSERT_TRUE(first.begin(session, key, 1));
  std::this_thread::sleep_for(milliseconds(1000));
  ASSERT_TRUE(last.begin(session, key, 2));
  ASSERT_TRUE(last.is_woken(8000));
  EXPECT_EQ(State::kEnded, last.look());
  EXPECT_EQ(State::kEnded, first.look());
}

// The timer is armed again while there are jobs. A job that has its answer does not make the
// service count as silent.
TEST_F(Jobs, ThatAreNotResumedAreNoSilence) {
  const auto session = connect();
  Job answered;
  ASSERT_TRUE(answered.begin(session, key, 1));
  ASSERT_TRUE(answered.is_woken(5000));
  std::this_thread::sleep_for(milliseconds(3000));
  fake.delay_ms = 4000;
  Job slow;
  ASSERT_TRUE(slow.begin(session, key, 2));
  const auto end = client::Clock::now() + seconds(8);
  State state = State::kWaits;
  int woken = 0;
  while (state == State::kWaits && client::Clock::now() < end && slow.is_woken(5000)) {
    state = slow.look();
    ++woken;
  }
  EXPECT_EQ(State::kDone, state);
  EXPECT_LE(woken, 3);
  EXPECT_EQ(State::kDone, answered.look());
  EXPECT_NE(nullptr, user.here().session());
}

TEST_F(Jobs, GoOnInANewSession) {
  Job job;
  ASSERT_TRUE(job.begin(connect(), key, 1));
  ASSERT_TRUE(job.is_woken(5000));
  EXPECT_EQ(State::kDone, job.look());
  fake.stop();
  fake.start();
  ASSERT_TRUE(job.is_woken(5000));
  EXPECT_FALSE(job.begin(connect(), key, 1));
  job.watch.drop();
  EXPECT_TRUE(comes_true([&] { return connect() != nullptr; }));
  for (int n = 0; n < 3; ++n) {
    ASSERT_TRUE(job.begin(connect(), key, n));
    ASSERT_TRUE(job.is_woken(5000));
    EXPECT_EQ(State::kDone, job.look());
    EXPECT_TRUE(job.is_right());
    EXPECT_FALSE(job.is_woken());
  }
}

TEST_F(Jobs, ShareFewChannels) {
  fake.most_channels = 4;
  const auto session = connect();
  std::deque<Job> jobs(20);
  for (Job &job : jobs) {
    ASSERT_TRUE(job.begin(session, key, 1));
    ASSERT_TRUE(job.is_woken(5000));
    ASSERT_EQ(State::kDone, job.look());
  }
  EXPECT_LE(fake.opened, 4);
  // Idle jobs keep at most half of the channels: other operations use the rest.
  EXPECT_EQ(OffloadResult::kDone, run());
}

TEST_F(Jobs, AChildLeavesItsParentsAlone) {
  const auto session = connect();
  fake.delay_ms = 100;
  auto job = std::make_unique<Job>();
  ASSERT_TRUE(job->begin(session, key, 1));
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    if (job->watch.is_usable() || job->watch.has(job->operation)) _exit(1);
    job.reset();
    Job own;
    if (connect() == nullptr || !own.begin(connect(), key, 2) || !own.is_woken(5000)) _exit(2);
    if (own.look() != State::kDone || !own.is_right()) _exit(3);
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(0, status);
  ASSERT_TRUE(job->is_woken(5000));
  EXPECT_EQ(State::kDone, job->look());
  EXPECT_TRUE(job->is_right());
}

TEST_F(Jobs, OfManyThreads) {
  const auto session = connect();
  fake.delay_ms = 1;
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      std::deque<Job> jobs(16);
      for (int round = 0; round < 10; ++round) {
        for (Job &job : jobs) ASSERT_TRUE(job.begin(session, key, t + round));
        for (Job &job : jobs) {
          State state = State::kWaits;
          while (state == State::kWaits && job.is_woken(5000)) state = job.look();
          done += state == State::kDone && job.is_right();
        }
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(16 * 16 * 10, done);
}

}  // namespace
}  // namespace service_test
