// Whether a device serves one part of the library, and why not.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::runtime {

// The state of a device as one part of the library sees it.
struct DeviceService {
  lc_device_state state = LC_DEVICE_UNTRIED;
  std::string reason;  // why it is unusable or lost
};

}  // namespace lanecrypt::runtime
