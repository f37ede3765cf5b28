// What tests and benchmarks may change by the environment: simulated faults, the shape of
// the emulator, and forms of kernels for comparison. Only a build with the option
// LANECRYPT_DIAGNOSTICS reads any of it. A release has not that option.
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

// nullptr where it is not set. src/CMakeLists.txt and bench/CMakeLists.txt list the files
// that include this, since they know the option.
[[maybe_unused]] static const char *diagnostic_variable([[maybe_unused]] const char *name) {
#ifdef LANECRYPT_DIAGNOSTICS
  return secure_getenv(name);
#else
  return nullptr;
#endif
}

}  // namespace lanecrypt::process
