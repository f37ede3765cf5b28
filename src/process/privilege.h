// Whether this process has more rights than whoever started it, as a set-uid program has.
// Then a stranger made its environment and its files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/auxv.h>

namespace lanecrypt::process {

// If so, we load no driver in it, start no thread and start no program.
inline bool serves_a_stranger() { return getauxval(AT_SECURE) != 0; }

}  // namespace lanecrypt::process
