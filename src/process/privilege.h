// Whether this process has more rights than whoever started it, as a set-uid program has.
// Its environment and its files may then come from an attacker.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/auxv.h>

namespace lanecrypt::process {

// If so, we load no driver in it, start no thread and start no program.
inline bool is_setuid() { return getauxval(AT_SECURE) != 0; }

}  // namespace lanecrypt::process
