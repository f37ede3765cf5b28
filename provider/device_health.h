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

// check_device_health() returns the state of the selected devices. It writes a line to the system
// log, once, for each device that was lost, or whose self-test failed: one for its bulk ciphers,
// and one for its public-key operations. The log is the only sign: the program gets correct results
// and no error.
DeviceHealth check_device_health(Provider &provider);

}  // namespace lanecrypt::provider
