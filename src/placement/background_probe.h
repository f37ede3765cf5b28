// Finds out by other programs of ours which devices there are and how long they take, while the
// CPU does the requests. So no driver and no thread comes into this process, and no caller
// waits.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "device/device_enumeration.h"
#include "placement/calibration.h"
#include "process/program.h"

namespace lanecrypt {

// Any thread. A child of fork leaves its parent's probe alone.
class BackgroundProbe {
 public:
  // About the devices that this list names.
  explicit BackgroundProbe(std::string devices) : devices_(std::move(devices)) {}
  BackgroundProbe(const BackgroundProbe &) = delete;

  // Starts the search for devices, if need be. True once it is known which there are.
  bool knows_devices();
  // Waits until it is known which devices there are.
  device::DeviceEnumeration wait_for_devices();

  // Starts measuring the device, with a context of its own.
  void measure(const std::string &id);
  struct Measured {
    std::optional<placement::Calibration> calibration;  // nothing where it failed
  };
  // The result of a measure(), given out once. Nothing before it has ended.
  std::optional<Measured> measured(const std::string &id);

  // Adds to the bytes that the CPU did and a device might have done. Returns the sum so
  // far.
  uint64_t count(uint64_t bytes) {
    return bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  }

 private:
  const std::string devices_;
  std::atomic<uint64_t> bytes_{0};
  std::mutex mutex_;
  std::unique_ptr<device::DeviceEnumerator> enumerator_;
  std::optional<device::DeviceEnumeration> enumeration_;
  // nullptr: the program could not be started.
  std::map<std::string, std::unique_ptr<process::Program>> measuring_;
};

}  // namespace lanecrypt
