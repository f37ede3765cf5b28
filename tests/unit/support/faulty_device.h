// Any device, with faults: what the emulator does on demand, done to a real one. It
// stands between the library and the device, in tests alone.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "device/device.h"

namespace lanecrypt::test {

// What comes in a device that serves: a test may have it wait for what others do, which
// on a busy machine no time tells.
enum class Step { kUpload, kStuck };  // begins
using OnStep = std::function<void(Step)>;

// `found`, which fails as `faults` says, in the words of device/host/host_fault.h,
// each time that it is opened. `on_step` is called on the device's thread.
device::Found with_faults(device::Found found, const std::string &faults, OnStep on_step = nullptr);

// The device of that id, as it is; `unusable` is set where it is not here.
device::Found find_device(const std::string &id);

}  // namespace lanecrypt::test
