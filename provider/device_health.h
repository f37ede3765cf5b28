// The selected devices, looked at after one of them may have failed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "provider/provider.h"

namespace lanecrypt::provider {

// How many can still be used for bulk, and how many were lost for it.
struct DeviceHealth {
  int usable = 0, lost = 0;
};

// Tells the system's log, once, of each device that was lost since, for bulk or for RSA,
// or whose self-test failed. The program sees right results and no error.
DeviceHealth check_device_health(Provider &provider);

}  // namespace lanecrypt::provider
