// When a process connects, and when it tries again.
//
// SPDX-License-Identifier: Apache-2.0
#include "service/client/test_key.h"

namespace service_test {
namespace {

using Connecting = WithFake;

TEST_F(Connecting, OneForAllThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> done{0};
  for (int t = 0; t < 32; ++t)
    threads.emplace_back([&, t] { done += connect() != nullptr && run(t) == Taken::kDone; });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(32, done);
  EXPECT_EQ(1, fake.sessions);
}

TEST_F(Connecting, WhoDoesNotWaitIsNotHeldUp) {
  fake.greeting = FakeService::Greeting::kNone;
  std::thread first([&] { (void)user.here().connect(false); });
  EXPECT_TRUE(comes_true([&] { return fake.sessions == 1; }));
  const auto began = client::Clock::now();
  EXPECT_EQ(nullptr, user.here().connect(false));
  EXPECT_LT(client::Clock::now() - began, milliseconds(100));
  first.join();
}

TEST_F(Connecting, PausesAreTwiceAsLongEachTime) {
  fake.stop();
  EXPECT_EQ(nullptr, connect());
  EXPECT_FALSE(user.here().may_connect());
  std::this_thread::sleep_for(milliseconds(260));
  EXPECT_TRUE(user.here().may_connect());
  EXPECT_EQ(nullptr, connect());
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_FALSE(user.here().may_connect());
  std::this_thread::sleep_for(milliseconds(250));
  EXPECT_TRUE(user.here().may_connect());
  fake.start();
  ASSERT_NE(nullptr, connect());
  EXPECT_EQ(Taken::kDone, run());
}

// To connect is not enough: a service may die of each operation.
TEST_F(Connecting, OnlyAnAnswerMakesPausesShortAgain) {
  fake.answer = FakeService::Answer::kCloses;
  ASSERT_NE(nullptr, connect());
  EXPECT_EQ(Taken::kFailed, run());
  std::this_thread::sleep_for(milliseconds(260));
  ASSERT_NE(nullptr, connect());
  EXPECT_EQ(Taken::kFailed, run());
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_FALSE(user.here().may_connect());
  std::this_thread::sleep_for(milliseconds(250));
  fake.answer = FakeService::Answer::kRight;
  ASSERT_NE(nullptr, connect());
  EXPECT_EQ(Taken::kDone, run());
  fake.answer = FakeService::Answer::kCloses;
  EXPECT_EQ(Taken::kFailed, run());
  std::this_thread::sleep_for(milliseconds(260));
  EXPECT_TRUE(user.here().may_connect());
}

TEST_F(Connecting, SaysWhatIsWrong) {
  fake.stop(true);
  EXPECT_EQ(nullptr, connect());
  EXPECT_EQ(fake.path() + ": Connection refused", user.here().why());
  EXPECT_EQ(fake.path(), user.here().path());
}

TEST_F(Connecting, EndsWithItsUser) {
  {
    client::Client other(client::Place::named(fake.path()));
    ASSERT_NE(nullptr, other.here().connect(true));
  }
  EXPECT_TRUE(comes_true([&] { return fake.ended == 1; }));
}

}  // namespace
}  // namespace service_test
