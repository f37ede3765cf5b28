// The properties of a CUDA device that are known before it is opened.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/cuda/driver.h"
#include "device/device.h"

namespace lanecrypt::device::cuda {

Properties describe(const Driver &driver, CUdevice device, int number);

}  // namespace lanecrypt::device::cuda
