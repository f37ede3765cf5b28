// DeviceUse: which thread may use a device, and which one is next.
//
// SPDX-License-Identifier: Apache-2.0
#include "cipher/device_use.h"

#include <gtest/gtest.h>

#include <thread>

namespace lanecrypt::test {
namespace {

using runtime::DeviceUse;

const auto at_once = [] { return true; };

TEST(DeviceUse, IsOneCallers) {
  DeviceUse use;
  EXPECT_TRUE(use.take_if_idle());
  EXPECT_FALSE(use.take_if_free());
  EXPECT_FALSE(use.take_unless(at_once));
  use.give();
  EXPECT_TRUE(use.take_if_free());
  use.give();
  EXPECT_TRUE(use.take_unless(at_once));
  use.give();
}

TEST(DeviceUse, TheDevicesThreadGoesFirst) {
  DeviceUse use;
  ASSERT_TRUE(use.take_if_idle());
  std::thread device([&] { use.take_for_device(); });
  while (!use.device_waits()) std::this_thread::yield();
  EXPECT_FALSE(use.take_if_idle()) << "it does not wait for the device's thread";
  use.give();
  device.join();
  EXPECT_FALSE(use.device_waits());
  EXPECT_FALSE(use.take_if_idle());
  EXPECT_FALSE(use.take_if_free());
  EXPECT_FALSE(use.take_unless(at_once));
  use.give();
  EXPECT_TRUE(use.take_if_idle());
}

TEST(DeviceUse, OnlyTheDevicesThreadComesNext) {
  DeviceUse use;
  ASSERT_TRUE(use.take_if_idle());
  use.give_to_device();
  EXPECT_FALSE(use.take_if_idle());
  EXPECT_FALSE(use.take_if_free());
  EXPECT_FALSE(use.take_unless(at_once));
  use.take_for_device();
  use.give();
  EXPECT_TRUE(use.take_if_idle());
}

TEST(DeviceUse, NobodyHasItWhenItIsClosed) {
  DeviceUse use;
  ASSERT_TRUE(use.begin_visit());
  ASSERT_TRUE(use.take_if_idle());
  std::thread closes([&] { use.close(); });
  while (!use.is_closed()) std::this_thread::yield();
  EXPECT_FALSE(use.begin_visit());
  EXPECT_FALSE(use.take_if_idle());
  EXPECT_FALSE(use.take_if_free());
  EXPECT_FALSE(use.take_unless([] { return false; }));
  use.give();
  use.end_visit();
  closes.join();
}

}  // namespace
}  // namespace lanecrypt::test
