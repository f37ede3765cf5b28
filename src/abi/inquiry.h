// What programs of ours find out beside, while the CPU does what is asked: which devices
// there are, and what they take. Neither drivers nor threads come into this process for
// that, and no caller waits.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "device/survey.h"
#include "place/calibration.h"
#include "process/program.h"

namespace lanecrypt {

// Any thread. Of a child of fork it is the parent's, and left alone.
class Inquiry {
 public:
  // Of the devices that this list names.
  explicit Inquiry(std::string devices) : devices_(std::move(devices)) {}
  Inquiry(const Inquiry &) = delete;

  // Has devices looked for. True once it is known which there are.
  bool knows_devices();
  // Waits until that is known.
  device::Survey survey();

  // Has the device measured, with a context of its own.
  void measure(const std::string &id);
  struct Measured {
    std::optional<tune::Calibration> calibration;  // nothing where it failed
  };
  // Once for each that measure() was called for: what came of it; nothing before.
  std::optional<Measured> measured(const std::string &id);

  // Adds to what the CPU did that a device might have done; the sum so far.
  uint64_t count(uint64_t bytes) {
    return bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  }

 private:
  const std::string devices_;
  std::atomic<uint64_t> bytes_{0};
  std::mutex mutex_;
  std::unique_ptr<device::Surveyor> surveyor_;
  std::optional<device::Survey> survey_;
  // nullptr: it could not be started.
  std::map<std::string, std::unique_ptr<process::Program>> measuring_;
};

}  // namespace lanecrypt
