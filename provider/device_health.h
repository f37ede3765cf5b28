// The state of the selected devices, checked after one of them may have failed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "provider/provider.h"

namespace lanecrypt::provider {

// DeviceHealth counts the selected devices that can still be used for bulk ciphers, and those that
// were lost.
struct DeviceHealth {
  int usable = 0, lost = 0;
};

// check_device_health() returns the state of the selected devices. It writes one line to the system
// log for each device that was lost for bulk ciphers or for signatures, or whose self-test failed.
// The log is the only sign: the program gets correct results and no error.
DeviceHealth check_device_health(Provider &provider);

}  // namespace lanecrypt::provider
