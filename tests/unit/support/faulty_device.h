// Adds faults to any device: the faults that the emulator simulates on demand, on a real device.
// The wrapper lies between the library and the device, and is only for tests.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "device/device.h"

namespace lanecrypt::test {

// What a serving device is about to do. A test can make it wait for other threads, because time
// limits prove nothing on a busy machine.
enum class Step { kUpload, kStuck };  // the step begins
using OnStep = std::function<void(Step)>;

// Returns `found`, changed so that each opened device fails as `faults` says, in the syntax of
// device/host/host_fault.h. `on_step` is called on the device's thread.
device::Found with_faults(device::Found found, const std::string &faults, OnStep on_step = nullptr);

// Returns the device with that id. Its `unusable` is set if there is no such device.
device::Found find_device(const std::string &id);

}  // namespace lanecrypt::test
