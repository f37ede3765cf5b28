// Reading mapped files, which others may shorten meanwhile.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::cli {

// Calls run(argument). False if it touched a page of a mapping beyond the end of its
// file, for which the kernel sends SIGBUS. run() is then left in the middle, without
// destructors, so it must be plain C that holds no lock. Any thread may call this. A
// SIGBUS of other threads ends the process as usual.
bool run_unless_bus_error(void (*run)(void *argument), void *argument);

}  // namespace lanecrypt::cli
