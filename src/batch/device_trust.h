// How far a device is trusted with a family's operations.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::runtime {

struct DeviceTrust {
  // What of its results the CPU computes back, besides their check on the device: all
  // with LC_VERIFY_FULL, else one of each batch, and of the first of each kind more.
  lc_verify verify = LC_VERIFY_SAMPLED;
  // The time within which work must end; a device that takes longer is stuck. 0:
  // default_time_limit().
  std::chrono::milliseconds time_limit{0};
  // For tests of what comes after it: not at the opening, nor after a wrong result.
  bool skip_self_test = false;
};

}  // namespace lanecrypt::runtime
