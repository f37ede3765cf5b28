// Host memory for secrets on their way to a device and back.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/device.h"

namespace lanecrypt::schedule {

// kPinned memory: pages of ours, left out of core dumps, empty in a child of fork and
// wiped when they go, which the device pins where they lie. Where it pins none, memory of
// its driver's, which has no such guards.
Result<std::unique_ptr<device::Buffer>> allocate_secret_pages(device::Device &device,
                                                              uint64_t bytes);

}  // namespace lanecrypt::schedule
