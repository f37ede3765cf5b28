// Any device, with faults: what the emulator does on demand, on a real device. It stands
// between the library and the device, and is only for tests.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "device/device.h"

namespace lanecrypt::test {

// What a device that serves is about to do. A test may make it wait for others, since on
// a busy machine no time limit tells.
enum class Step { kUpload, kStuck };  // begins
using OnStep = std::function<void(Step)>;

// `found`, but each time that it is opened it fails as `faults` says, in the words of
// device/host/host_fault.h. `on_step` is called on the device's thread.
device::Found with_faults(device::Found found, const std::string &faults, OnStep on_step = nullptr);

// The device with that id. `unusable` is set if it is not here.
device::Found find_device(const std::string &id);

}  // namespace lanecrypt::test
