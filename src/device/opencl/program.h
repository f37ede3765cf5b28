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

// Returns the compiler options for a device.
std::string build_options(const Properties &properties);

// If program.handle is null, fills it from the cache on disk or, if the cache has no entry, from
// the source; a new build is stored in the cache. Fails with LC_ERROR_DEVICE and the first lines of
// the compiler's log if the compiler rejects the source.
Status build_program(const Session &session, Program &program);

}  // namespace lanecrypt::device::opencl
