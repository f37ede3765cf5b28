// `SlhChoice` decides whether a single SLH-DSA operation runs on a device or the CPU, by its
// parameter set.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "batch/batch_choice.h"
#include "slh/slh_request.h"

namespace lanecrypt::runtime {

class SlhChoice {
 public:
  using Duration = BatchChoice::Duration;
  using Devices = BatchChoice::Devices;

  SlhChoice(Devices devices, unsigned cores) : choice_(std::move(devices), cores) {}

  // As in BatchChoice.
  bool is_device_sooner(const SlhSet &set, lc_slh_dsa_operation operation, uint32_t in_line) {
    return choice_.is_device_sooner(profile_of(set, operation), in_line);
  }
  void report_cpu_time(const SlhSet &set, lc_slh_dsa_operation operation, Duration took) {
    choice_.report_cpu_time(profile_of(set, operation), took);
  }

 private:
  static constexpr size_t kOperations = 3;
  static_assert(BatchChoice::kSlots >= kOperations * kSlhSets);

  static BatchChoice::OperationProfile profile_of(const SlhSet &set,
                                                  lc_slh_dsa_operation operation) {
    // The least time of a launch: hashes that depend on one another, and the transfers.
    constexpr Duration kGuess = std::chrono::microseconds(1000);
    return {.kind = slh_kind(operation, set),
            .slot = kOperations * place_of(set) + size_t(operation),
            .guess = set.shake ? 3 * kGuess : kGuess};
  }

  BatchChoice choice_;
};

}  // namespace lanecrypt::runtime
