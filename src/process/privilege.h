// Whether this process has more rights than whoever started it, as a set-uid program
// has. Its environment and its files are then those of a stranger.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/auxv.h>

namespace lanecrypt::process {

// Such a process loads no driver, starts no thread and starts no program for us.
inline bool serves_a_stranger() { return getauxval(AT_SECURE) != 0; }

}  // namespace lanecrypt::process
