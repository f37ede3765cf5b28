// Tests what the service reads of cards, with a fake NVML.
//
// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/system/card.h"

#include <gtest/gtest.h>

#include "unit/support/devices.h"

// The number of nvmlInit_v2() calls without their nvmlShutdown().
extern "C" int fake_nvml_begun();

namespace lanecrypt::service::daemon {
namespace {

TEST(Cards, TellTemperatureAndMemory) {
  {
    Cards cards;
    const CardReading first = cards.read("0000:01:00.0");
    EXPECT_EQ(41u, first.temperature_celsius);
    EXPECT_EQ(30u, first.memory_used_bytes);
    EXPECT_EQ(1, fake_nvml_begun());
  }
  EXPECT_EQ(0, fake_nvml_begun());
}

TEST(Cards, LeaveOutWhatIsNotTold) {
  Cards cards;
  const CardReading second = cards.read("0000:02:00.0");
  EXPECT_FALSE(second.temperature_celsius);
  EXPECT_EQ(30u, second.memory_used_bytes);
  for (const char *address : {"0000:03:00.0", ""}) {
    const CardReading none = cards.read(address);
    EXPECT_FALSE(none.temperature_celsius || none.memory_used_bytes) << address;
  }
}

TEST(Cards, TellNothingWhereTheLibraryFails) {
  const lanecrypt::test::ScopedEnvironment fails("FAKE_NVML_FAILS", "1");
  Cards cards;
  EXPECT_FALSE(cards.read("0000:01:00.0").memory_used_bytes);
}

}  // namespace
}  // namespace lanecrypt::service::daemon
