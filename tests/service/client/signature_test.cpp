// Tests of signatures by parameter set: what is sent, which answers are accepted, and where
// signatures are made.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "service/client/test_key.h"

namespace service_test {
namespace {

using lanecrypt::service::Family;
using lanecrypt::service::kMlDsaSets;
using lanecrypt::service::kSignatureSets;
using lanecrypt::service::kSlhDsaSets;
using lanecrypt::service::OperationKind;
using lanecrypt::service::SignatureSet;
using lanecrypt::service::StatusPage;
using Answer = FakeService::Answer;

class Signatures : public WithFake, public testing::WithParamInterface<SignatureSet> {
 protected:
  // The fake signature begins with its input.
  OffloadResult sign(int seed = 1) {
    const Bytes input = input_of(seed, GetParam().input_bytes);
    Bytes signature(GetParam().signature_bytes, 0xEE);
    const OffloadResult taken = client::run_private(user.here(), key_, input, signature);
    const Bytes head(signature.begin(), signature.begin() + std::ptrdiff_t(input.size()));
    if (taken == OffloadResult::kDone) {
      EXPECT_EQ(input, head);
      EXPECT_EQ(uint8_t(GetParam().number), signature.back());
    } else {
      EXPECT_EQ(Bytes(signature.size(), 0xEE), signature);
    }
    return taken;
  }
  TestSetKey key_{GetParam()};
};

TEST_P(Signatures, BringsTheKeyOnceAndAgainToWhoHasForgottenIt) {
  ASSERT_TRUE(connects());
  for (int n = 0; n < 10; ++n) EXPECT_EQ(OffloadResult::kDone, sign(n));
  EXPECT_EQ(1, fake.with_key);
  EXPECT_EQ(10, fake.requests);
  fake.answer = Answer::kForgetsOnce;
  EXPECT_EQ(OffloadResult::kDone, sign());
  EXPECT_EQ(2, fake.with_key);
  key_.forget_in(*connect());
  EXPECT_TRUE(comes_true([&] { return fake.forgotten == 1; }));
}

TEST_P(Signatures, SharesItsSessionWithRsa) {
  ASSERT_TRUE(connects());
  for (int n = 0; n < 5; ++n) {
    EXPECT_EQ(OffloadResult::kDone, sign(n));
    EXPECT_EQ(OffloadResult::kDone, run(n));
  }
  EXPECT_EQ(1, fake.sessions);
  EXPECT_EQ(1, fake.opened);
  EXPECT_EQ(2u, connect()->keys);
}

TEST_P(Signatures, OtherAnswersEndTheSession) {
  for (const Answer answer : {Answer::kShort, Answer::kLong, Answer::kOtherSize, Answer::kHuge,
                              Answer::kDoneWithNothing, Answer::kOtherKind, Answer::kCloses}) {
    while (connect() == nullptr) std::this_thread::sleep_for(milliseconds(20));
    fake.answer = answer;
    EXPECT_EQ(OffloadResult::kFailed, sign());
    EXPECT_TRUE(user.here().take_loss());
    EXPECT_EQ(nullptr, user.here().session());
    // An operation that the service does resets the pause.
    fake.answer = Answer::kRight;
    while (connect() == nullptr) std::this_thread::sleep_for(milliseconds(20));
    EXPECT_EQ(OffloadResult::kDone, sign());
  }
}

TEST_P(Signatures, AreRefusedWithoutAnOutput) {
  ASSERT_TRUE(connects());
  fake.answer = Answer::kOutcome;
  for (const Outcome outcome : {Outcome::kBusy, Outcome::kNoDevice, Outcome::kBadInput}) {
    fake.outcome = outcome;
    EXPECT_EQ(OffloadResult::kNotTaken, sign());
  }
  fake.outcome = Outcome::kFailed;
  EXPECT_EQ(OffloadResult::kFailed, sign());
  fake.answer = Answer::kRight;
  EXPECT_EQ(OffloadResult::kDone, sign());
  EXPECT_EQ(1, fake.sessions);
}

// After kFaultSigned the client does not sign either. For another family the outcome is an ordinary
// failure.
TEST_P(Signatures, ThatGiveTheKeyAwayAreNeverMade) {
  ASSERT_TRUE(connects());
  fake.answer = Answer::kOutcome;
  fake.outcome = Outcome::kFaultSigned;
  EXPECT_EQ(GetParam().family == Family::kSlhDsa ? OffloadResult::kRefused : OffloadResult::kFailed,
            sign());
  fake.answer = Answer::kRight;
  EXPECT_EQ(OffloadResult::kDone, sign());
}

// An output with an outcome other than kDone is invalid.
TEST_P(Signatures, AnOutputWithoutSuccessEndsTheSession) {
  ASSERT_TRUE(connects());
  fake.answer = Answer::kFailedWithOutput;
  EXPECT_EQ(OffloadResult::kFailed, sign());
  EXPECT_EQ(nullptr, user.here().session());
}

TEST_P(Signatures, AnswersOfOtherFamiliesDevicesSayNothing) {
  const OperationKind operation_kind = GetParam().operation_kind();
  auto &known = StatusPage::times_of(fake.page(), operation_kind);
  for (auto &us : known) us = 1;
  ASSERT_TRUE(connects());
  client::Choice &choice = user.here().choice();
  if (choice.is_service_sooner(operation_kind, 1 << 20)) {
    EXPECT_EQ(Family::kSlhDsa, operation_kind.family);
  } else {
    choice.report_cpu_time(operation_kind, std::chrono::seconds(1));
  }
  EXPECT_TRUE(choice.is_service_sooner(operation_kind, 1 << 20));
  // The times and devices of other sets have no influence.
  for (auto &size : fake.page().rsa_us)
    for (auto &us : size) us = 1'000'000;
  for (const SignatureSet &other : kSignatureSets)
    if (other.operation_kind() != operation_kind)
      for (auto &us : StatusPage::times_of(fake.page(), other.operation_kind())) us = 1'000'000;
  EXPECT_TRUE(choice.is_service_sooner(operation_kind, 4));
  (operation_kind.family == Family::kMlDsa ? fake.page().ml_dsa_devices
                                           : fake.page().slh_dsa_devices) = 0;
  EXPECT_FALSE(choice.is_service_sooner(operation_kind, 1 << 20));
  choice.report_cpu_time(operation_kind, std::chrono::seconds(1));
}

// A set with short and one with long signatures of each family. Those of SLH-DSA are longer than
// all others.
INSTANTIATE_TEST_SUITE_P(SomeSets, Signatures,
                         testing::Values(kMlDsaSets.front(), kMlDsaSets.back(), kSlhDsaSets.front(),
                                         kSlhDsaSets.back()),
                         [](const auto &set) {
                           std::string name = set.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class SignatureChoice : public WithFake {
 protected:
  // Returns whether the service is faster than a core that takes `on_cpu`.
  bool goes(const OperationKind &operation_kind, uint32_t in_line,
            std::chrono::microseconds on_cpu) {
    client::Choice &choice = user.here().choice();
    const bool sooner = choice.is_service_sooner(operation_kind, in_line);
    if (!sooner) choice.report_cpu_time(operation_kind, on_cpu);
    return sooner;
  }
};

TEST_F(SignatureChoice, ALoneCallerOfMlDsaStaysAndACrowdGoes) {
  constexpr std::chrono::microseconds kOnCpu{500};
  fake.page().cores = 1;
  ASSERT_TRUE(connects());
  for (const SignatureSet &set : kMlDsaSets) {
    SCOPED_TRACE(set.name);
    StatusPage::times_of(fake.page(), set.operation_kind())[StatusPage::load_of(1)] = 1500;
    EXPECT_FALSE(goes(set.operation_kind(), 1, kOnCpu));
    EXPECT_FALSE(goes(set.operation_kind(), 1, kOnCpu));
    EXPECT_FALSE(goes(set.operation_kind(), 3, kOnCpu));
    EXPECT_TRUE(goes(set.operation_kind(), 4, kOnCpu));
  }
}

// The first signature of a program that signs once goes to the service too: it takes any core
// longer.
TEST_F(SignatureChoice, ALoneCallerOfSlhDsaGoes) {
  ASSERT_TRUE(connects());
  EXPECT_TRUE(user.here().choice().is_worth_connecting(Family::kSlhDsa, 1));
  for (const SignatureSet &set : kSlhDsaSets) {
    SCOPED_TRACE(set.name);
    auto &known = StatusPage::times_of(fake.page(), set.operation_kind())[StatusPage::load_of(1)];
    known = 3000;
    EXPECT_TRUE(goes(set.operation_kind(), 1, std::chrono::microseconds(1)));
    // A device that is slower than any core gets none.
    known = 1'000'000;
    EXPECT_FALSE(goes(set.operation_kind(), 1, std::chrono::milliseconds(400)));
  }
}

}  // namespace
}  // namespace service_test
