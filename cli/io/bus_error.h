// Reading mapped files, which others may make shorter meanwhile.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::cli {

// Calls run(argument). False where it touched a page of a mapping whose file ends
// before it, for which the kernel sends SIGBUS: run() was left in the middle, without
// destructors, so that it must be plain C that holds no lock. From any thread; others'
// SIGBUS ends the process as ever.
bool run_unless_bus_error(void (*run)(void *argument), void *argument);

}  // namespace lanecrypt::cli
