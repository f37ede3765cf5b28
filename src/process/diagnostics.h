// What tests and benchmarks may change by the environment: simulated faults, the shape
// of the emulator, and forms of kernels that are there for comparison. A build without
// the option LANECRYPT_DIAGNOSTICS, as a release is, reads none of it.
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

// nullptr where it is not set. What includes this is listed in src/CMakeLists.txt or
// bench/CMakeLists.txt, as one of the files that know the option.
[[maybe_unused]] static const char *diagnostic_variable([[maybe_unused]] const char *name) {
#ifdef LANECRYPT_DIAGNOSTICS
  return secure_getenv(name);
#else
  return nullptr;
#endif
}

}  // namespace lanecrypt::process
