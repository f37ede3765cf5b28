// `RsaChoice` decides whether a single private RSA operation runs on a device or the CPU, by the
// length of its key.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "batch/batch_choice.h"
#include "rsa/rsa_kind.h"

namespace lanecrypt::runtime {

class RsaChoice {
 public:
  using Duration = BatchChoice::Duration;
  using Devices = BatchChoice::Devices;

  RsaChoice(Devices devices, unsigned cores) : choice_(std::move(devices), cores) {}

  // As in BatchChoice.
  bool is_device_sooner(uint32_t bits, uint32_t in_line) {
    return choice_.is_device_sooner(profile_of(bits), in_line);
  }
  void report_cpu_time(uint32_t bits, Duration took) {
    choice_.report_cpu_time(profile_of(bits), took);
  }

 private:
  static BatchChoice::OperationProfile profile_of(uint32_t bits) {
    constexpr uint32_t kSlotBits = 256;
    constexpr Duration kGuess = std::chrono::microseconds(2500);  // for 2048 bits
    return {.kind = {LC_RSA_PRIVATE, rsa_kind(bits)},
            .slot = std::min<size_t>(bits / kSlotBits, BatchChoice::kSlots - 1),
            .guess = kGuess * bits / 2048 * bits / 2048};
  }

  BatchChoice choice_;
};

}  // namespace lanecrypt::runtime
