// A device that does not end what it has begun: how long it is waited for, and
// what becomes of what it may still reach.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>

#include "device/device.h"

namespace lanecrypt::schedule {

// What holds of a device where nothing else was asked for: that so much may pass in
// which nothing ends, though there is work.
std::chrono::milliseconds default_time_limit(const device::Properties &properties);

// Waits until the event is reached, but no longer than `limit`; whether it was.
// Neither sleeps nor keeps a core busy for long.
bool await_within(device::Event &event, std::chrono::milliseconds limit);

// LC_ERROR_DEVICE.
Status stuck_status(std::chrono::milliseconds limit);

// Keeps what a stuck device may still reach until the process ends: to free it
// would wait for the device.
void keep_for_ever(std::shared_ptr<void> what);

}  // namespace lanecrypt::schedule
