// Where single RSA operations run: on the caller's core, or in a device's next batch. No device is
// needed.
//
// SPDX-License-Identifier: Apache-2.0
#include "rsa/rsa_choice.h"

#include <gtest/gtest.h>

namespace lanecrypt::runtime {
namespace {

using namespace std::chrono_literals;

class ChoiceTest : public testing::Test {
 protected:
  // The test's own clock, since on a busy machine any time may pass between two lines.
  inline static std::chrono::steady_clock::time_point now_ = std::chrono::steady_clock::now();
  size_t load_ = 0;
  std::optional<RsaChoice::Duration> estimate_;
  int warm_ups_ = 0;
  RsaChoice choice_{{.load = [this] { return load_; },
                     .estimate = [this](BatchKind, RsaChoice::Duration) { return estimate_; },
                     .warm_up = [this] { ++warm_ups_; },
                     .now = [] { return now_; }},
                    16};
  void run_on_cpu(uint32_t bits, RsaChoice::Duration took) {
    ASSERT_FALSE(choice_.is_device_sooner(bits, 1));
    choice_.report_cpu_time(bits, took);
  }
};

TEST_F(ChoiceTest, ALoneCallerStaysOnItsCpu) {
  estimate_ = 2ms;
  for (int call = 0; call < 1000; ++call) run_on_cpu(2048, 360us);
  EXPECT_EQ(0, warm_ups_);
}

TEST_F(ChoiceTest, AThreadOnEveryCoreStaysThere) {
  estimate_ = 2ms;
  run_on_cpu(2048, 360us);
  for (int round = 0; round < 10; ++round) {
    for (int n = 0; n < 16; ++n) EXPECT_FALSE(choice_.is_device_sooner(2048, 1));
    for (int n = 0; n < 16; ++n) choice_.report_cpu_time(2048, 360us);
  }
}

TEST_F(ChoiceTest, ManyCallersGoToTheDeviceAndStayThereBetweenBatches) {
  estimate_ = 2ms;
  run_on_cpu(2048, 360us);
  int on_cpu = 0, on_device = 0;
  for (int n = 0; n < 256; ++n) {
    if (choice_.is_device_sooner(2048, 1)) {
      ++on_device;
      ++load_;
    } else {
      ++on_cpu;
    }
  }
  // About 98 callers on 16 cores take 2.2 ms.
  EXPECT_GT(on_device, 140);
  EXPECT_GT(on_cpu, 60);
  for (; on_cpu > 0; --on_cpu) choice_.report_cpu_time(2048, 2ms);
  // A batch ends, and for a moment there is no other caller.
  load_ = 0;
  EXPECT_TRUE(choice_.is_device_sooner(2048, 1));
  // After that the other callers stay away.
  now_ += 30ms;
  EXPECT_FALSE(choice_.is_device_sooner(2048, 1));
  choice_.report_cpu_time(2048, 360us);
  now_ += 30ms;
  EXPECT_FALSE(choice_.is_device_sooner(2048, 1));
}

TEST_F(ChoiceTest, OneThreadWithManyJobsGoesToTheDevice) {
  estimate_ = 2ms;
  run_on_cpu(2048, 360us);
  EXPECT_FALSE(choice_.is_device_sooner(2048, 3));
  choice_.report_cpu_time(2048, 360us);
  EXPECT_TRUE(choice_.is_device_sooner(2048, 10));
}

TEST_F(ChoiceTest, DevicesAreOpenedWhenTheyWouldPay) {
  run_on_cpu(2048, 360us);
  for (int n = 0; n < 60; ++n) EXPECT_FALSE(choice_.is_device_sooner(2048, 1));
  EXPECT_EQ(0, warm_ups_);
  for (int n = 0; n < 100; ++n) EXPECT_FALSE(choice_.is_device_sooner(2048, 1));
  EXPECT_GT(warm_ups_, 0);
}

TEST_F(ChoiceTest, SizesAreKnownApart) {
  estimate_ = 2ms;
  run_on_cpu(2048, 360us);
  // No time for 4096 bits is known yet, so the CPU must be measured first.
  run_on_cpu(4096, 4ms);
  EXPECT_TRUE(choice_.is_device_sooner(4096, 1));
  EXPECT_FALSE(choice_.is_device_sooner(2048, 1));
}

}  // namespace
}  // namespace lanecrypt::runtime
