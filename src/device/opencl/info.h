// What an OpenCL device reports about itself.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "device/device.h"
#include "device/opencl/loader.h"

namespace lanecrypt::device::opencl {

// Returns all properties of a device except its id and api. `unusable` is a sentence if the device
// lacks something that is needed.
Properties describe(cl_platform_id platform, cl_device_id device);

// What one compute unit runs at a time, to size a grid whose thread blocks stay for the whole
// launch.
struct Residency {
  uint64_t shared_bytes = 0;  // of all its thread blocks together
  uint64_t thread_block_overhead_bytes = 0;
  uint64_t threads = 0;
  uint32_t most_thread_blocks = 1;
  uint64_t registers = 0;  // 0: unknown
};
Residency residency(cl_device_id device, const Properties &properties);

// Returns the registers per thread of a kernel, as far as its name tells, for devices that limit
// thread blocks by registers; 0 if unknown.
uint32_t thread_registers(std::string_view kernel);

// Returns how many thread blocks of such a launch the whole device runs at once, at least 1.
uint32_t thread_blocks_at_once(const Residency &residency, uint32_t compute_units,
                               uint32_t thread_block_size, uint32_t shared_bytes,
                               uint32_t thread_registers = 0);

// Return a text or a number of the device; "" or 0 if it has none.
std::string device_text(cl_device_id device, cl_device_info what);
std::string platform_text(cl_platform_id platform, cl_platform_info what);
uint64_t device_number(cl_device_id device, cl_device_info what);

}  // namespace lanecrypt::device::opencl
