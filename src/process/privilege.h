// Tells whether this process has more rights than the user that started it, like a set-user-ID
// program. Its environment and its files may then come from an attacker.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/auxv.h>

namespace lanecrypt::process {

// If is_setuid(), we load no driver, start no thread and start no program.
inline bool is_setuid() { return getauxval(AT_SECURE) != 0; }

}  // namespace lanecrypt::process
