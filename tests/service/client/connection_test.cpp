// Tests when a process connects, and when it tries again.
//
// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "service/client/test_key.h"

namespace service_test {
namespace {

class Connecting : public WithFake {
 protected:
  // Expects that no thread may connect for `length` after `fails`, and that one may later. A check
  // that a busy machine delays beyond the pause proves nothing and is ignored.
  void expect_pause(milliseconds length, const std::function<void()> &fails) {
    const auto end = client::Clock::now() + length;
    fails();
    for (;;) {
      const bool may = user.here().may_connect();
      if (client::Clock::now() >= end) break;
      ASSERT_FALSE(may);
      std::this_thread::sleep_for(milliseconds(5));
    }
    EXPECT_TRUE(comes_true([&] { return user.here().may_connect(); }));
  }
};

TEST_F(Connecting, OneForAllThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> done{0};
  for (int t = 0; t < 32; ++t)
    threads.emplace_back(
        [&, t] { done += connect() != nullptr && run(t) == OffloadResult::kDone; });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(32, done);
  EXPECT_EQ(1, fake.sessions);
}

// While one thread connects, another that does not wait returns at once. On a busy machine the
// first may be done before the second is scheduled; that proves nothing.
TEST_F(Connecting, WhoDoesNotWaitIsNotHeldUp) {
  fake.greeting = FakeService::Greeting::kNone;
  bool was_amid = false;
  for (int n = 0; n < 50 && !was_amid; ++n) {
    client::Client other(client::ServiceAddress::named(fake.path()));
    std::atomic<bool> is_done{false};
    const int before = fake.sessions;
    std::thread first([&] {
      (void)other.here().connect(false);
      is_done = true;
    });
    EXPECT_TRUE(comes_true([&] { return fake.sessions > before; }));
    EXPECT_EQ(nullptr, other.here().connect(false));
    was_amid = !is_done;
    first.join();
  }
  EXPECT_TRUE(was_amid);
}

TEST_F(Connecting, PausesAreTwiceAsLongEachTime) {
  fake.stop();
  for (const int length : {250, 500, 1000})
    expect_pause(milliseconds(length), [&] { EXPECT_EQ(nullptr, connect()); });
  fake.start();
  ASSERT_TRUE(connects());
  EXPECT_EQ(OffloadResult::kDone, run());
}

// A connection alone does not reset the pause: a service may crash at each operation.
TEST_F(Connecting, OnlyAnAnswerMakesPausesShortAgain) {
  const auto fails_for = [&](int length) {
    fake.answer = FakeService::Answer::kCloses;
    ASSERT_TRUE(connects());
    expect_pause(milliseconds(length), [&] { EXPECT_EQ(OffloadResult::kFailed, run()); });
  };
  fails_for(250);
  fails_for(500);
  // Without an answer the next pause would be one second. On a busy machine a short one may seem as
  // long, but not each time.
  bool was_short = false;
  for (int n = 0; n < 20 && !was_short; ++n) {
    fake.answer = FakeService::Answer::kRight;
    ASSERT_TRUE(connects());
    EXPECT_EQ(OffloadResult::kDone, run());
    const auto began = client::Clock::now();
    fails_for(250);
    was_short = client::Clock::now() - began < seconds(1);
  }
  EXPECT_TRUE(was_short);
}

TEST_F(Connecting, SaysWhatIsWrong) {
  fake.stop(true);
  EXPECT_EQ(nullptr, connect());
  EXPECT_EQ(fake.path() + ": Connection refused", user.here().why());
  EXPECT_EQ(fake.path(), user.here().path());
}

TEST_F(Connecting, EndsWithItsUser) {
  {
    client::Client other(client::ServiceAddress::named(fake.path()));
    ASSERT_NE(nullptr, other.here().connect(true));
  }
  EXPECT_TRUE(comes_true([&] { return fake.ended == 1; }));
}

}  // namespace
}  // namespace service_test
