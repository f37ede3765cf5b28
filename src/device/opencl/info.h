// What an OpenCL device says about itself.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "device/device.h"
#include "device/opencl/loader.h"

namespace lanecrypt::device::opencl {

// Everything of a device but its id and api. `unusable` is a sentence where
// the device lacks what we need.
Properties describe(cl_platform_id platform, cl_device_id device);

// What one compute unit holds at a time, to size a grid whose thread blocks stay.
struct Residency {
  uint64_t shared_bytes = 0;  // of all its thread blocks together
  uint64_t thread_block_overhead_bytes = 0;
  uint64_t threads = 0;
  uint32_t most_thread_blocks = 1;
  uint64_t registers = 0;  // 0: not known
};
Residency residency(cl_device_id device, const Properties &properties);

// Registers a thread of a kernel, as far as its name tells, where the device has
// some to share out; 0: not known.
uint32_t thread_registers(std::string_view kernel);

// Groups of such a launch that the whole device holds at once, at least 1.
uint32_t thread_blocks_at_once(const Residency &residency, uint32_t compute_units,
                               uint32_t thread_block_size, uint32_t shared_bytes,
                               uint32_t thread_registers = 0);

// A text or a number of the device; "" and 0 where it has none.
std::string device_text(cl_device_id device, cl_device_info what);
std::string platform_text(cl_platform_id platform, cl_platform_info what);
uint64_t device_number(cl_device_id device, cl_device_info what);

}  // namespace lanecrypt::device::opencl
