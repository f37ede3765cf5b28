// Lanecrypt's kernels, compiled by an OpenCL driver.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "device/opencl/session.h"

namespace lanecrypt::device::opencl {

// The kernels of each set, as built in.
#define LC_SOURCE(name, ...) ProgramSource name##_source();
LC_KERNEL_SETS(LC_SOURCE)
#undef LC_SOURCE
ProgramSource source_of(KernelSet set);

// The compiler options for a device.
std::string build_options(const Properties &properties);

// Fills program.handle, where it is null, from the cache on disk or, where that
// has none, from the source; a new build is put into the cache. LC_ERROR_DEVICE
// with the first lines of the compiler's log where it refuses the source.
Status build_program(const Session &session, Program &program);

}  // namespace lanecrypt::device::opencl
