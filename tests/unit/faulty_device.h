// Any device, with faults: what the emulator does on demand, done to a real one. It
// stands between the library and the device, in tests alone.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "device/device.h"

namespace lanecrypt::test {

// `found`, which fails as `faults` says, in the words of device/host/host_fault.h,
// each time that it is opened.
device::Found with_faults(device::Found found, const std::string &faults);

// The device of that id, as it is; `unusable` is set where it is not here.
device::Found find_device(const std::string &id);

}  // namespace lanecrypt::test
