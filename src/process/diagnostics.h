// Environment variables for tests and benchmarks: simulated faults, the shape of the emulator, and
// variants of kernels for comparison. Only a build with the option LANECRYPT_DIAGNOSTICS reads
// them. Releases are built without it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

namespace lanecrypt::process {

#ifdef LANECRYPT_DIAGNOSTICS
constexpr bool kHasDiagnostics = true;
#else
constexpr bool kHasDiagnostics = false;
#endif

// diagnostic_variable() returns the value of an environment variable; nullptr if it is not set.
// src/CMakeLists.txt and bench/CMakeLists.txt list the files that include this header, because
// these are compiled with the option.
[[maybe_unused]] static const char *diagnostic_variable([[maybe_unused]] const char *name) {
#ifdef LANECRYPT_DIAGNOSTICS
  return secure_getenv(name);
#else
  return nullptr;
#endif
}

}  // namespace lanecrypt::process
