// Handles a device that does not complete its work: how long we wait for it, and what happens to
// the memory that it may still access.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include "device/device.h"

namespace lanecrypt::runtime {

// Returns the time limit of a device, if the caller set none. A device is stuck if it has work and
// completes nothing for this long.
std::chrono::milliseconds default_time_limit(const device::Properties &properties);

// Waits until the event is reached, for at most `limit`. Returns whether it was reached. It polls
// without sleeping at first, and then after short sleeps.
bool await_within(device::Event &event, std::chrono::milliseconds limit);

// Returns LC_ERROR_DEVICE, with the limit in its text.
Status stuck_status(std::chrono::milliseconds limit) noexcept;

// Keeps what a stuck device may still access until the process ends. Freeing it would wait for the
// device. If there is no memory, the object is leaked instead.
void keep_for_ever(std::shared_ptr<void> what) noexcept;
template <class Kept>
void keep_for_ever(std::unique_ptr<Kept> what) noexcept {
  try {
    keep_for_ever(std::shared_ptr<void>(std::move(what)));
  } catch (const std::exception &) {
    (void)what.release();
  }
}

}  // namespace lanecrypt::runtime
