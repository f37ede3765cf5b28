// Tests with a service that breaks the protocol, is silent, or exits: the client gives it up, and
// no thread waits for ever.
//
// SPDX-License-Identifier: Apache-2.0
#include "service/client/test_key.h"

namespace service_test {
namespace {

using Greeting = FakeService::Greeting;
using Channels = FakeService::Channels;
using Answer = FakeService::Answer;

class BadAnswer : public WithFake, public testing::WithParamInterface<Answer> {};

TEST_P(BadAnswer, EndsTheSessionOnce) {
  ASSERT_TRUE(connects());
  EXPECT_EQ(OffloadResult::kDone, run());
  fake.answer = GetParam();
  const auto began = client::Clock::now();
  EXPECT_EQ(OffloadResult::kFailed, run());
  // The loss is reported once, and the client does not connect again at once.
  EXPECT_TRUE(user.here().take_loss());
  EXPECT_FALSE(user.here().take_loss());
  EXPECT_EQ(nullptr, user.here().session());
  const bool is_back = connect() != nullptr;
  if (client::Clock::now() - began < milliseconds(250)) {
    EXPECT_FALSE(is_back);
  }
  EXPECT_TRUE(comes_true([&] { return fake.ended == 1; }));
  // The service works again.
  fake.answer = Answer::kRight;
  std::this_thread::sleep_for(milliseconds(300));
  ASSERT_TRUE(connects()) << user.here().why();
  EXPECT_EQ(OffloadResult::kDone, run());
  EXPECT_EQ(2, fake.with_key);
}

INSTANTIATE_TEST_SUITE_P(Each, BadAnswer,
                         testing::Values(Answer::kCloses, Answer::kClosesAll, Answer::kShort,
                                         Answer::kLong, Answer::kOtherSize, Answer::kOtherKind,
                                         Answer::kOtherVersion, Answer::kHeaderOnly, Answer::kHuge,
                                         Answer::kUnknownOutcome, Answer::kDoneWithNothing));

using Hostile = WithFake;

// The second answer is taken for that of the next request. It has a valid form, so only a check of
// results (verify = full) shows that it is wrong. It breaks nothing else.
TEST_F(Hostile, AnAnswerThatComesTwiceBreaksNothing) {
  ASSERT_TRUE(connects());
  fake.answer = Answer::kTwice;
  EXPECT_EQ(OffloadResult::kDone, run(1));
  const Bytes input = input_of(1);
  Bytes output(128);
  EXPECT_EQ(OffloadResult::kDone, client::run_private(user.here(), key, input, output));
}

TEST_F(Hostile, SilenceHasALimit) {
  ASSERT_TRUE(connects());
  EXPECT_EQ(OffloadResult::kDone, run());
  fake.answer = Answer::kNone;
  const auto began = client::Clock::now();
  std::vector<std::thread> threads;
  for (int t = 0; t < 20; ++t)
    threads.emplace_back([&, t] {
      std::this_thread::sleep_for(milliseconds(200 * t));
      EXPECT_EQ(OffloadResult::kFailed, run(t));
    });
  for (std::thread &thread : threads) thread.join();
  const auto took = client::Clock::now() - began;
  EXPECT_GT(took, seconds(4));
  // Later operations wake with the first. The last alone would wait until 8.8 s.
  EXPECT_LT(took, seconds(8));
  EXPECT_TRUE(user.here().take_loss());
  EXPECT_FALSE(user.here().take_loss());
  // The service may notice it later than the client.
  EXPECT_TRUE(comes_true([&] { return fake.ended == 1; }));
}

TEST_F(Hostile, AServiceThatGoesFailsNobodyElse) {
  ASSERT_TRUE(connects());
  fake.delay_ms = 10'000;
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 50; ++t)
    threads.emplace_back([&, t] { failed += run(t) == OffloadResult::kFailed; });
  EXPECT_TRUE(comes_true([&] { return fake.requests == 50; }));
  const auto began = client::Clock::now();
  fake.stop();
  for (std::thread &thread : threads) thread.join();
  EXPECT_LT(client::Clock::now() - began, seconds(5)) << "as if it were silent";
  EXPECT_EQ(50, failed);
  EXPECT_TRUE(user.here().take_loss());
}

class BadGreeting : public WithFake, public testing::WithParamInterface<Greeting> {};

TEST_P(BadGreeting, IsNoSession) {
  fake.greeting = GetParam();
  const auto began = client::Clock::now();
  EXPECT_EQ(nullptr, connect());
  EXPECT_LT(client::Clock::now() - began, seconds(5)) << "as if it were silent";
  EXPECT_FALSE(user.here().why().empty());
  EXPECT_EQ(OffloadResult::kNotTaken, run());
  // Nothing was lost, since there was no session.
  EXPECT_FALSE(user.here().take_loss());
}

INSTANTIATE_TEST_SUITE_P(Each, BadGreeting,
                         testing::Values(Greeting::kNone, Greeting::kRefused, Greeting::kGarbage,
                                         Greeting::kNoPage, Greeting::kShortPage,
                                         Greeting::kPageThatMayShrink, Greeting::kOtherVersion,
                                         Greeting::kCloses));

class BadChannels : public WithFake, public testing::WithParamInterface<Channels> {};

TEST_P(BadChannels, EndTheSession) {
  fake.channels = GetParam();
  ASSERT_TRUE(connects());
  const auto began = client::Clock::now();
  EXPECT_EQ(OffloadResult::kFailed, run());
  EXPECT_LT(client::Clock::now() - began, seconds(5)) << "as if it were silent";
  EXPECT_EQ(nullptr, user.here().session());
  EXPECT_TRUE(user.here().take_loss());
  // Channels that came nevertheless were closed.
  EXPECT_TRUE(comes_true([&] { return fake.closed_channels == fake.opened; }));
}

INSTANTIATE_TEST_SUITE_P(Each, BadChannels,
                         testing::Values(Channels::kNone, Channels::kTooMany, Channels::kOtherCount,
                                         Channels::kGarbage, Channels::kCloses));

TEST_F(Hostile, NoChannelsAreNoFault) {
  fake.channels = Channels::kRefused;
  ASSERT_TRUE(connects());
  EXPECT_EQ(OffloadResult::kNotTaken, run());
  EXPECT_EQ(OffloadResult::kNotTaken, run());
  fake.channels = Channels::kRight;
  // The client does not request channels again for a while.
  EXPECT_EQ(OffloadResult::kNotTaken, run());
  std::this_thread::sleep_for(milliseconds(1100));
  EXPECT_EQ(OffloadResult::kDone, run());
  EXPECT_EQ(1, fake.sessions);
}

}  // namespace
}  // namespace service_test
