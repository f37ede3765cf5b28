// Tests what liblanecrypt sends to a fake service, and what it makes of the answers.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "../client/fake_service.h"
#include "library_signer.h"
#include "test_client.h"

namespace lanecrypt::service::test {
namespace {

using service_test::FakeService;

// Returns bytes of the length of a signature that are not a signature.
Bytes filler(const SignatureSet &set) { return Bytes(set.signature_bytes, 7); }

class LibraryAndFake : public testing::TestWithParam<const SignatureSet *> {
 protected:
  LibraryAndFake() {
    fake.sign = [this](const SignatureSet &set, std::span<const uint8_t> input, const Bytes &key) {
      const std::lock_guard lock(mutex_);
      input_.assign(input.begin(), input.end());
      key_ = key;
      return filler(set);
    };
  }
  const SignatureSet &set() const { return *GetParam(); }
  Bytes last_input() {
    const std::lock_guard lock(mutex_);
    return input_;
  }
  Bytes last_key() {
    const std::lock_guard lock(mutex_);
    return key_;
  }

  FakeService fake;

 private:
  std::mutex mutex_;
  Bytes input_, key_;
};

// The fake service checks the lengths of keys and inputs.
TEST_F(LibraryAndFake, EachSetGoesToTheService) {
  for (const SignatureSet &of : kSignatureSets) {
    SCOPED_TRACE(of.name);
    // A key with which no signature verifies.
    Bytes key(of.family == Family::kMlDsa ? 0 : 4 * size_t{of.key_bytes} / 3);
    for (size_t n = 0; n < key.size(); ++n) key[n] = uint8_t(n);
    LibrarySigner signer(of, fake.path(),
                         {.fallback = LC_FALLBACK_NONE, .private_key = key, .count = 1});
    ASSERT_EQ(LC_OK, signer.sign()) << lc_last_error();
    EXPECT_TRUE(signer.did_service());
    EXPECT_EQ(filler(of), signer.signatures[0]);
    EXPECT_EQ(of.input_bytes, last_input().size());
    if (of.family == Family::kMlDsa) continue;
    // The client does not send SK.prf.
    const auto n = std::ptrdiff_t(key.size() / 4);
    key.erase(key.begin() + n, key.begin() + 2 * n);
    EXPECT_EQ(key, last_key());
  }
}

TEST_P(LibraryAndFake, AKeyIsHandedOverOnce) {
  LibrarySigner signer(set(), fake.path(), {.fallback = LC_FALLBACK_NONE, .count = 1});
  for (int n = 0; n < 4; ++n) ASSERT_EQ(LC_OK, signer.sign()) << lc_last_error();
  EXPECT_EQ(4, fake.requests);
  EXPECT_EQ(1, fake.with_key);
  // A key that the service has lost is sent again.
  fake.answer = FakeService::Answer::kForgetsOnce;
  ASSERT_EQ(LC_OK, signer.sign()) << lc_last_error();
  EXPECT_EQ(2, fake.with_key);
  signer.free_key();
  EXPECT_TRUE(comes_true([&] { return fake.forgotten == 1; }));
}

// Each message has its own rnd or R.
TEST_P(LibraryAndFake, WhatIsSignedIsHedged) {
  LibrarySigner signer(set(), fake.path(), {.fallback = LC_FALLBACK_NONE, .count = 1});
  ASSERT_EQ(LC_OK, signer.sign());
  const Bytes first = last_input();
  ASSERT_EQ(LC_OK, signer.sign());
  EXPECT_NE(first, last_input());
  ASSERT_EQ(LC_OK, signer.sign(true));
  const Bytes fixed = last_input();
  ASSERT_EQ(LC_OK, signer.sign(true));
  EXPECT_EQ(fixed, last_input());
}

TEST_P(LibraryAndFake, TheCpuSignsWhatIsRefused) {
  fake.answer = FakeService::Answer::kOutcome;
  LibrarySigner signer(set(), fake.path());
  for (const Outcome outcome : {Outcome::kBusy, Outcome::kNoDevice, Outcome::kBadInput,
                                Outcome::kFailed, Outcome::kBadKey}) {
    fake.outcome = outcome;
    ASSERT_EQ(LC_OK, signer.sign()) << lc_last_error();
    EXPECT_TRUE(signer.did_cpu());
    EXPECT_TRUE(signer.are_right());
    EXPECT_EQ(outcome == Outcome::kFailed ? 1u : 0u, signer.result.failed_devices);
  }
  // A key that the service refuses is not sent again.
  const int requests = fake.requests;
  ASSERT_EQ(LC_OK, signer.sign());
  EXPECT_EQ(requests, fake.requests);
  EXPECT_EQ(1, fake.sessions);
}

TEST_P(LibraryAndFake, TheCpuSignsAgainWhatIsWrongIfAllIsChecked) {
  LibrarySigner signer(set(), fake.path(), {.verify = LC_VERIFY_FULL});
  ASSERT_EQ(LC_OK, signer.sign()) << lc_last_error();
  EXPECT_TRUE(signer.did_cpu());
  EXPECT_TRUE(signer.are_right());
  EXPECT_EQ(1u, signer.result.failed_devices);
  EXPECT_EQ(2, fake.requests);
  LibrarySigner without(set(), fake.path(),
                        {.fallback = LC_FALLBACK_NONE, .verify = LC_VERIFY_FULL});
  EXPECT_EQ(LC_ERROR_DEVICE, without.sign());
  // A wrong signature is not given out: it may reveal the key.
  for (const Bytes &signature : without.signatures)
    EXPECT_EQ(Bytes(set().signature_bytes, 0xa5), signature);
}

TEST_P(LibraryAndFake, AnswersThatAreWrongInFormHarmNothing) {
  using Answer = FakeService::Answer;
  for (const Answer answer :
       {Answer::kCloses, Answer::kClosesAll, Answer::kShort, Answer::kLong, Answer::kOtherKind,
        Answer::kOtherVersion, Answer::kHeaderOnly, Answer::kHuge, Answer::kUnknownOutcome,
        Answer::kDoneWithNothing, Answer::kFailedWithOutput, Answer::kUnknownKey}) {
    SCOPED_TRACE(int(answer));
    fake.answer = answer;
    LibrarySigner signer(set(), fake.path(), {.count = 1});
    ASSERT_EQ(LC_OK, signer.sign()) << lc_last_error();
    EXPECT_TRUE(signer.did_cpu());
    EXPECT_TRUE(signer.are_right());
  }
}

// Signals as in a program with a timer.
TEST_F(LibraryAndFake, SilenceHasALimitThoughSignalsCome) {
  struct sigaction nothing {
  }, before{};
  nothing.sa_handler = [](int) {};
  ASSERT_EQ(0, sigaction(SIGUSR1, &nothing, &before));
  fake.answer = FakeService::Answer::kNone;
  LibrarySigner signer(kMlDsaTried, fake.path(), {.count = 1});
  std::atomic<bool> is_over{false};
  bool came_to_an_end = false;
  std::thread signals([&, waiter = pthread_self()] {
    came_to_an_end = comes_true([&] {
      pthread_kill(waiter, SIGUSR1);
      return is_over.load();
    });
    if (!came_to_an_end) fake.stop();
  });
  EXPECT_EQ(LC_OK, signer.sign()) << lc_last_error();
  is_over = true;
  signals.join();
  ASSERT_EQ(0, sigaction(SIGUSR1, &before, nullptr));
  EXPECT_TRUE(came_to_an_end);
  EXPECT_TRUE(signer.did_cpu());
  EXPECT_TRUE(signer.are_right());
}

// Any further signature would reveal the key, so neither the service nor the CPU makes it.
TEST_F(LibraryAndFake, NobodySignsWhereAFaultWasSigned) {
  fake.answer = FakeService::Answer::kOutcome;
  fake.outcome = Outcome::kFaultSigned;
  LibrarySigner signer(kSlhDsaTried, fake.path(), {.count = 1});
  const auto nobody_signed = [&] {
    EXPECT_NE(std::string::npos, std::string(lc_last_error()).find("a fault was signed"));
    EXPECT_EQ(Bytes(kSlhDsaTried.signature_bytes, 0xa5), signer.signatures[0]);
    EXPECT_EQ(0u, signer.result.cpu_operations + signer.result.device_operations);
    EXPECT_EQ(1u, signer.result.failed_checks);
    EXPECT_EQ(0u, signer.result.failed_devices);
  };
  EXPECT_EQ(LC_ERROR_DEVICE, signer.sign());
  nobody_signed();
  lc_ticket *ticket = nullptr;
  ASSERT_EQ(LC_OK, signer.submit(0, nullptr, &ticket));
  EXPECT_EQ(LC_ERROR_DEVICE, lc_ticket_wait(ticket, &signer.result));
  lc_ticket_free(ticket);
  nobody_signed();
  // For ML-DSA the outcome does not exist, so it counts as a failure.
  LibrarySigner other(kMlDsaTried, fake.path(), {.count = 1});
  EXPECT_EQ(LC_OK, other.sign());
  EXPECT_TRUE(other.did_cpu());
  EXPECT_TRUE(other.are_right());
}

// The whole job fails, and its other operations are not done.
TEST_F(LibraryAndFake, AJobWithASignedFaultIsNotFinished) {
  fake.answer = FakeService::Answer::kOutcome;
  fake.outcome = Outcome::kFaultSigned;
  LibrarySigner signer(kSlhDsaTried, fake.path());
  EXPECT_EQ(LC_ERROR_DEVICE, signer.sign());
  EXPECT_EQ(0u, signer.result.cpu_operations + signer.result.device_operations);
  for (const Bytes &signature : signer.signatures)
    EXPECT_EQ(Bytes(kSlhDsaTried.signature_bytes, 0xa5), signature);
}

TEST_P(LibraryAndFake, OnlySignaturesForAnyDeviceGo) {
  LibrarySigner signer(set(), fake.path());
  ASSERT_EQ(LC_OK, signer.sign(false, LC_CPU));
  EXPECT_TRUE(signer.did_cpu());
  EXPECT_TRUE(signer.are_right());
  EXPECT_EQ(0, fake.requests);
  EXPECT_EQ(0, fake.sessions);
}

// The service does not know the sets of a draft. Only a device makes their signatures.
TEST_F(LibraryAndFake, ADraftsSetStaysHere) {
  constexpr SignatureSet kDraft{Family::kSlhDsa, LC_SLH_DSA_SHA2_128_24, "", 0, 48, 3856};
  LibrarySigner signer(kDraft, fake.path(), {.private_key = Bytes(64, 1), .count = 1});
  EXPECT_EQ(LC_ERROR_UNSUPPORTED, signer.sign());
  EXPECT_EQ(0, fake.sessions);
}

TEST_F(LibraryAndFake, WhereASignatureIsSoonerGoesByTheServicesPage) {
  LibrarySigner signer(kMlDsaTried, fake.path());
  const auto ml_dsa_prefers_device = [&] {
    return lc_ml_dsa_prefers_device(signer.context, LC_ML_DSA_44, 1000) == 1;
  };
  const auto slh_dsa_prefers_device = [&](lc_slh_dsa_operation operation) {
    return lc_slh_dsa_prefers_device(signer.context, LC_SLH_DSA_SHA2_128F, operation, 1) == 1;
  };
  for (auto &known : fake.page().sign_us)
    for (auto &us : known) us = 500;
  // The time on a core is not known for ML-DSA yet; for SLH-DSA there is a lower bound.
  EXPECT_FALSE(ml_dsa_prefers_device());
  lc_ml_dsa_report_cpu_time(signer.context, LC_ML_DSA_44, 1'000'000);
  EXPECT_TRUE(ml_dsa_prefers_device());
  EXPECT_TRUE(slh_dsa_prefers_device(LC_SLH_DSA_SIGN));
  // The service neither verifies nor makes SLH-DSA keys, and there is no device here.
  EXPECT_FALSE(slh_dsa_prefers_device(LC_SLH_DSA_VERIFY));
  EXPECT_FALSE(slh_dsa_prefers_device(LC_SLH_DSA_GENERATE));
  fake.page().ml_dsa_devices = fake.page().slh_dsa_devices = 0;
  EXPECT_FALSE(ml_dsa_prefers_device());
  EXPECT_FALSE(slh_dsa_prefers_device(LC_SLH_DSA_SIGN));
  EXPECT_EQ(0, lc_ml_dsa_prefers_device(signer.context, lc_ml_dsa_set(1), 1000));
  EXPECT_EQ(0, fake.requests);
}

INSTANTIATE_TEST_SUITE_P(EachFamily, LibraryAndFake, testing::Values(&kMlDsaTried, &kSlhDsaTried),
                         [](const auto &set) {
                           return std::string(set.param->family == Family::kMlDsa ? "MlDsa"
                                                                                  : "SlhDsa");
                         });

}  // namespace
}  // namespace lanecrypt::service::test
