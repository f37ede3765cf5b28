// Tests where an operation runs, for different status pages.
//
// SPDX-License-Identifier: Apache-2.0
#include "service/client/test_key.h"

namespace service_test {
namespace {

using lanecrypt::service::Family;
using lanecrypt::service::StatusPage;

constexpr uint32_t kBits = 2048;
constexpr lanecrypt::service::OperationKind kOperationKind{lanecrypt::service::Family::kRsa, kBits};
constexpr auto kAlone = std::chrono::microseconds(500);

class Choosing : public WithFake {
 protected:
  void SetUp() override {
    fake.page().cores = 1;
    know(0, 1500);
    ASSERT_TRUE(connects());
    // The first operation gives the time on a core.
    ASSERT_FALSE(choice().is_service_sooner(kOperationKind, 1));
    choice().report_cpu_time(kOperationKind, kAlone);
  }
  client::Choice &choice() { return user.here().choice(); }
  void know(uint32_t load, uint32_t us) {
    fake.page().rsa_us[StatusPage::size_of(kBits)][StatusPage::load_of(load + 1)] = us;
  }
  bool goes(uint32_t in_line = 1) {
    const bool sooner = choice().is_service_sooner(kOperationKind, in_line);
    if (!sooner) choice().report_cpu_time(kOperationKind, kAlone);
    return sooner;
  }
  void others_want(uint32_t tasks) {
    fake.page().runnable = tasks;
    fake.page().looked_at = uint64_t(client::Clock::now().time_since_epoch().count());
  }
};

TEST_F(Choosing, ALoneCallerStays) {
  for (int n = 0; n < 100; ++n) EXPECT_FALSE(goes());
}

TEST_F(Choosing, ACrowdInOneThreadGoes) {
  EXPECT_FALSE(goes(3));
  EXPECT_TRUE(goes(4));
  EXPECT_TRUE(goes(1 << 20));
}

TEST_F(Choosing, ACrowdOfThreadsGoes) {
  int at_work = 0;
  while (at_work < 100 && !choice().is_service_sooner(kOperationKind, 1)) ++at_work;
  EXPECT_GE(at_work, 3);
  EXPECT_LE(at_work, 4);
  for (int n = 0; n < at_work; ++n) choice().report_cpu_time(kOperationKind, kAlone);
}

// Threads of other processes want the cores.
TEST_F(Choosing, ACrowdOfProcessesGoes) {
  others_want(16);
  EXPECT_TRUE(goes());
}

TEST_F(Choosing, OldNewsDoNotCount) {
  others_want(16);
  fake.page().looked_at = fake.page().looked_at - 60'000'000;
  EXPECT_FALSE(goes());
}

// The caller itself is one of the tasks that the page counts.
TEST_F(Choosing, ItselfIsNoCrowd) {
  others_want(1);
  EXPECT_FALSE(goes());
}

TEST_F(Choosing, WhoIsServedWouldWantACoreToo) {
  know(20, 1500);
  fake.page().operations = 20;
  EXPECT_TRUE(goes());
}

// The core would do all of them faster.
TEST_F(Choosing, ABusyServiceIsAvoided) {
  fake.page().operations = 100;
  know(100, 60'000);
  EXPECT_FALSE(goes());
  know(100, 40'000);
  EXPECT_TRUE(goes());
}

TEST_F(Choosing, WithoutADeviceNobodyGoes) {
  fake.page().usable_devices = 0;
  EXPECT_FALSE(goes(1 << 20));
}

TEST_F(Choosing, WithoutAServiceNobodyGoes) {
  user.here().end();
  EXPECT_FALSE(goes(1 << 20));
}

// The estimate is 1.25 times as long for twice the load, and the load is four times as high here.
// Eight operations would share the core for 4 ms.
TEST_F(Choosing, AnUnknownLoadIsGuessedFromTheNextLower) {
  fake.page().operations = 7;
  know(1, 2400);
  EXPECT_FALSE(goes());
  know(1, 2300);
  EXPECT_TRUE(goes());
}

TEST_F(Choosing, AnUnknownSizeIsGuessed) {
  know(0, 0);
  EXPECT_FALSE(goes(4));
  EXPECT_TRUE(goes(8));
}

TEST_F(Choosing, WildTimesBreakNothing) {
  know(0, UINT32_MAX);
  fake.page().operations = UINT32_MAX;
  fake.page().runnable = UINT32_MAX;
  fake.page().looked_at = UINT64_MAX;
  fake.page().cores = 0;
  (void)goes();
  (void)goes(1 << 20);
  others_want(UINT32_MAX);
  (void)goes();
}

TEST_F(Choosing, AsksForNewsNotTooOften) {
  const auto session = connect();
  const auto began = client::Clock::now();
  ASSERT_TRUE(choice().wants_look(*session));
  session->look_again();
  EXPECT_TRUE(comes_true([&] { return fake.looks == 1; }));
  for (int n = 0; n < 100; ++n) {
    const bool wants = choice().wants_look(*session);
    if (client::Clock::now() - began >= milliseconds(100)) break;
    ASSERT_FALSE(wants);
  }
  std::this_thread::sleep_for(milliseconds(110));
  EXPECT_TRUE(choice().wants_look(*session));
}

TEST(Choice, FewOperationsAreNoReasonToConnect) {
  FakeService fake;
  client::Client user(client::ServiceAddress::named(fake.path()));
  client::Choice &choice = user.here().choice();
  for (int n = 1; n < 8; ++n) EXPECT_FALSE(choice.is_worth_connecting(Family::kRsa, 1));
  EXPECT_TRUE(choice.is_worth_connecting(Family::kRsa, 1));
  EXPECT_TRUE(choice.is_worth_connecting(Family::kRsa, 1));
  client::Client second(client::ServiceAddress::named(fake.path()));
  EXPECT_TRUE(second.here().choice().is_worth_connecting(Family::kRsa, 2));
}

TEST(Choice, OfKeys) {
  FakeService fake;
  client::Client user(client::ServiceAddress::named(fake.path()));
  client::Choice &choice = user.here().choice();
  EXPECT_TRUE(choice.is_key_worth_it(4096));
  for (int n = 0; n < 8; ++n) EXPECT_FALSE(choice.is_key_worth_it(2048));
  EXPECT_TRUE(choice.is_key_worth_it(2048));
}

}  // namespace
}  // namespace service_test
