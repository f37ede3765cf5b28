// Reading mapped files, which others may shorten meanwhile.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::cli {

// Calls run(argument). False if it touched a page of a mapping beyond the end of its
// file, for which the kernel sends SIGBUS. run() is then left in the middle, without
// destructors, so it must be plain C that holds no lock. Any thread may call this. A
// SIGBUS of other threads ends the process.
bool run_unless_bus_error(void (*run)(void *argument), void *argument);

// From now on, a SIGBUS elsewhere, in whatever thread, ends the process with status 1 and
// these words on standard error. They must stay.
void end_on_bus_error(const char *text);

}  // namespace lanecrypt::cli
