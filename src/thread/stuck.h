// A device that does not end what it has begun: how long we wait for it, and what happens to
// the memory that it may still reach.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include "device/device.h"

namespace lanecrypt::runtime {

// The time limit of a device, if the caller set none. It is stuck when it has work and ends
// nothing for so long.
std::chrono::milliseconds default_time_limit(const device::Properties &properties);

// Waits until the event is reached, but no longer than `limit`. Returns whether it was reached.
// It watches for a moment, and then looks again after short sleeps.
bool await_within(device::Event &event, std::chrono::milliseconds limit);

// LC_ERROR_DEVICE, with the limit in its text.
Status stuck_status(std::chrono::milliseconds limit) noexcept;

// Keeps what a stuck device may still reach until the process ends. Freeing it would wait for
// the device. Without memory it is kept all the same.
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
