// Host memory for secrets on their way to a device and back.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/device.h"

namespace lanecrypt::runtime {

// Makes kPinned memory. It is of our own pages, which the device pins where they are. They are
// left out of core dumps, empty in a child of fork, and wiped before they are freed. If the
// device cannot pin them, the memory is its driver's, and has no such guards.
Result<std::unique_ptr<device::Buffer>> allocate_secret_pages(device::Device &device,
                                                              uint64_t bytes);

}  // namespace lanecrypt::runtime
