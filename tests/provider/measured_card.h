// A test fixture with a private cache, which contains measurements of a device.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "device/device.h"
#include "placement/calibration.h"
#include "placement/measure.h"
#include "temporary_folder.h"

namespace provider_test {

class MeasuredCard : public testing::Test {
 protected:
  void SetUp() override {
    if (const char *before = getenv("XDG_CACHE_HOME"); before != nullptr) before_ = before;
    setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  }
  void TearDown() override {
    before_.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", before_.c_str(), 1);
  }
  // The emulator as a card for AES-128-CTR that takes 100 microseconds and then processes 100 GB/s.
  static void store_quick_card() { store({{LC_AES_CTR, LC_ENCRYPT, 16}}, 100, 0); }
  // The emulator as a card that is slower than several cores, which process 15 GB/s.
  static void store_slow_card(const std::vector<lanecrypt::CipherKind> &kinds) {
    store(kinds, 7, 15);
  }

 private:
  static void store(const std::vector<lanecrypt::CipherKind> &kinds, uint64_t device_rate,
                    uint64_t cores_rate) {
    namespace placement = lanecrypt::placement;
    const auto found = lanecrypt::device::find_host();
    placement::Calibration made = {
        placement::describe_machine(), placement::describe_device(found[0].properties), true, {}};
    for (const lanecrypt::CipherKind &kind : kinds)
      for (const uint64_t bytes : {uint64_t{16} << 10, uint64_t{16} << 20})
        made.points.push_back({kind, false, 1, bytes, 100000 + bytes / device_rate,
                               20000 + bytes / device_rate, 100 + bytes / 5,
                               cores_rate != 0 ? bytes / cores_rate : 0});
    placement::store(made);
  }

  const lanecrypt::test::TemporaryFolder folder_;
  std::string before_;
};

}  // namespace provider_test
