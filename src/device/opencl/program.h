// Lanecrypt's kernels, compiled by an OpenCL driver.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "device/opencl/session.h"

namespace lanecrypt::device::opencl {

// A text to compile; both parts outlive every device.
struct ProgramSource {
  std::string_view text;
  std::string_view sha256;  // of the text: part of the name of a cached binary
};

// The kernels, as built in from kernels/all.h and kernels/all_rsa.h.
ProgramSource cipher_source();
ProgramSource rsa_source();

// The compiler options for a device: which forms of AES it can run.
std::string build_options(const Properties &properties);

// Fills session.program from the cache on disk or, where that has none, from
// the source; a new build is put into the cache. LC_ERROR_DEVICE with the
// first lines of the compiler's log where it refuses the source.
Status build_program(Session &session, cl_platform_id platform, const ProgramSource &source);

}  // namespace lanecrypt::device::opencl
