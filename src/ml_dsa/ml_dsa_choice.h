// `MlDsaChoice` decides whether a single ML-DSA signature is made on a device or the CPU, by its
// parameter set.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "batch/batch_choice.h"
#include "job/ml_dsa_sizes.h"

namespace lanecrypt::runtime {

class MlDsaChoice {
 public:
  using Duration = BatchChoice::Duration;
  using Devices = BatchChoice::Devices;

  MlDsaChoice(Devices devices, unsigned cores) : choice_(std::move(devices), cores) {}

  // As in BatchChoice.
  bool is_device_sooner(const MlDsaSizes &sizes, uint32_t in_line) {
    return choice_.is_device_sooner(profile_of(sizes), in_line);
  }
  void report_cpu_time(const MlDsaSizes &sizes, Duration took) {
    choice_.report_cpu_time(profile_of(sizes), took);
  }

 private:
  static BatchChoice::OperationProfile profile_of(const MlDsaSizes &sizes) {
    constexpr Duration kGuess = std::chrono::microseconds(2500);
    return {.kind = {LC_ML_DSA_SIGN, uint32_t(sizes.set)},
            .slot = size_t(&sizes - kMlDsaSizes),
            .guess = kGuess};
  }

  BatchChoice choice_;
};

}  // namespace lanecrypt::runtime
