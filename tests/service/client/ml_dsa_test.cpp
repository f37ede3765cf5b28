// Signatures of ML-DSA: what is sent, which answers are taken, and where they are made.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "service/client/test_key.h"

namespace service_test {
namespace {

using lanecrypt::service::Family;
using lanecrypt::service::find_ml_dsa_set;
using lanecrypt::service::kMlDsaInputBytes;
using lanecrypt::service::StatusPage;
using Answer = FakeService::Answer;

class MlDsa : public WithFake, public testing::WithParamInterface<uint32_t> {
 protected:
  // The fake signature begins with its input.
  Taken sign(int seed = 1) {
    const Bytes input = input_of(seed, kMlDsaInputBytes);
    Bytes signature(find_ml_dsa_set(GetParam())->signature_bytes, 0xEE);
    const Taken taken = client::run_private(user.here(), key_, input, signature);
    const Bytes head(signature.begin(), signature.begin() + kMlDsaInputBytes);
    if (taken == Taken::kDone) {
      EXPECT_EQ(input, head);
      EXPECT_EQ(uint8_t(GetParam()), signature.back());
    } else {
      EXPECT_EQ(Bytes(signature.size(), 0xEE), signature);
    }
    return taken;
  }
  TestMlDsaKey key_{GetParam()};
};

TEST_P(MlDsa, BringsTheKeyOnceAndAgainToWhoHasForgottenIt) {
  ASSERT_TRUE(connects());
  for (int n = 0; n < 10; ++n) EXPECT_EQ(Taken::kDone, sign(n));
  EXPECT_EQ(1, fake.with_key);
  EXPECT_EQ(10, fake.requests);
  fake.answer = Answer::kForgetsOnce;
  EXPECT_EQ(Taken::kDone, sign());
  EXPECT_EQ(2, fake.with_key);
  key_.forget_in(*connect());
  EXPECT_TRUE(comes_true([&] { return fake.forgotten == 1; }));
}

TEST_P(MlDsa, SharesItsSessionWithRsa) {
  ASSERT_TRUE(connects());
  for (int n = 0; n < 5; ++n) {
    EXPECT_EQ(Taken::kDone, sign(n));
    EXPECT_EQ(Taken::kDone, run(n));
  }
  EXPECT_EQ(1, fake.sessions);
  EXPECT_EQ(1, fake.opened);
  EXPECT_EQ(2u, connect()->keys);
}

TEST_P(MlDsa, OtherAnswersEndTheSession) {
  for (const Answer answer : {Answer::kShort, Answer::kLong, Answer::kOtherSize, Answer::kHuge,
                              Answer::kDoneWithNothing, Answer::kOtherKind, Answer::kCloses}) {
    while (connect() == nullptr) std::this_thread::sleep_for(milliseconds(20));
    fake.answer = answer;
    EXPECT_EQ(Taken::kFailed, sign());
    EXPECT_TRUE(user.here().take_loss());
    EXPECT_EQ(nullptr, user.here().session());
    // An operation that is done ends the longer and longer pauses.
    fake.answer = Answer::kRight;
    while (connect() == nullptr) std::this_thread::sleep_for(milliseconds(20));
    EXPECT_EQ(Taken::kDone, sign());
  }
}

TEST_P(MlDsa, ALoneCallerStaysAndACrowdGoes) {
  const lanecrypt::service::Sort sort{Family::kMlDsa, GetParam()};
  fake.page().cores = 1;
  auto &known = StatusPage::times_of(fake.page(), sort);
  known[StatusPage::load_of(1)] = 1500;
  ASSERT_TRUE(connects());
  client::Choice &choice = user.here().choice();
  ASSERT_FALSE(choice.is_service_sooner(sort, 1));
  choice.ran_on_cpu(sort, std::chrono::microseconds(500));
  const auto goes = [&](uint32_t in_line) {
    const bool sooner = choice.is_service_sooner(sort, in_line);
    if (!sooner) choice.ran_on_cpu(sort, std::chrono::microseconds(500));
    return sooner;
  };
  EXPECT_FALSE(goes(1));
  EXPECT_FALSE(goes(3));
  EXPECT_TRUE(goes(4));
  // What is known of RSA says nothing of ML-DSA, nor do its devices.
  for (auto &size : fake.page().rsa_us)
    for (auto &us : size) us = 1'000'000;
  EXPECT_TRUE(goes(4));
  fake.page().ml_dsa_devices = 0;
  EXPECT_FALSE(goes(1 << 20));
}

INSTANTIATE_TEST_SUITE_P(EachSet, MlDsa, testing::Values(44u, 65u, 87u));

}  // namespace
}  // namespace service_test
