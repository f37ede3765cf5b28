// The devices that a test runs on: all of this machine, or those that LANECRYPT_TEST_DEVICES names
// (ids or APIs, separated by commas).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "device/device_enumeration.h"

namespace lanecrypt::device {

inline bool wanted(const Properties &properties) {
  const char *names = std::getenv("LANECRYPT_TEST_DEVICES");
  if (names == nullptr || *names == '\0') return true;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    if (name == properties.id || name == properties.api) return true;
  }
  return false;
}

// Returns the ids of the devices. For an API without devices there is a name like "opencl:none", so
// that its tests exist and are skipped under that name.
inline std::vector<std::string> test_device_ids() {
  std::vector<std::string> ids;
  const std::vector<Found> all = find_all_here();
  for (const char *api : {"cuda", "opencl", "gl", "host"}) {
    bool any = false;
    for (const Found &found : all) {
      if (found.properties.api != api || !wanted(found.properties)) continue;
      ids.push_back(found.properties.id);
      any = true;
    }
    if (!any) ids.push_back(std::string(api) + ":none");
  }
  return ids;
}

inline std::string test_device_name(const testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  for (char &c : name) {
    if (c == ':') c = '_';
  }
  return name;
}

// Opens the device that the parameter names for each test. Skips the test if there is none.
class OnDevice : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    for (Found &found : find_all_here()) {
      if (found.properties.id != GetParam()) continue;
      if (!found.properties.unusable.empty()) {
        GTEST_SKIP() << GetParam() << " cannot be used: " << found.properties.unusable;
      }
      auto opened = found.open(KernelSet::kCiphers);
      ASSERT_TRUE(opened.ok()) << opened.status().text();
      device_ = std::move(*opened);
      return;
    }
    GTEST_SKIP() << "no such device here: " << GetParam();
  }

  std::unique_ptr<Buffer> allocate(MemoryKind kind, uint64_t bytes) {
    auto buffer = device_->allocate(kind, bytes);
    EXPECT_TRUE(buffer.ok()) << buffer.status().text();
    return buffer.ok() ? std::move(*buffer) : nullptr;
  }

  std::unique_ptr<Stream> make_stream() {
    auto stream = device_->make_stream();
    EXPECT_TRUE(stream.ok()) << stream.status().text();
    return stream.ok() ? std::move(*stream) : nullptr;
  }

  std::unique_ptr<Event> make_event() {
    auto event = device_->make_event();
    EXPECT_TRUE(event.ok()) << event.status().text();
    return event.ok() ? std::move(*event) : nullptr;
  }

  std::unique_ptr<Device> device_;
};

}  // namespace lanecrypt::device

// Expects the status of an expression to be LC_OK, and prints its text if it is not.
#define EXPECT_STATUS_OK(expression)                                            \
  do {                                                                          \
    const ::lanecrypt::Status status_here = (expression);                       \
    EXPECT_TRUE(status_here.ok()) << #expression << ": " << status_here.text(); \
  } while (0)
