// The number of CPU cores that this process may use. A machine's cores are often shared out. The
// command has a copy of this file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lanecrypt::cpu {

// Returns the number of cores that the calling thread may run on, but no more than the CPU quota of
// its control group, in whole cores. At least 1.
unsigned usable_cores();

// Returns how many of these cores share one large request or one file: at most eight. The limit is
// a guess: other programs need cores too, and all cores share the memory and the kernel.
unsigned bulk_cores();

// Returns the smallest CPU quota, in whole cores rounded down and at least 1, of the control groups
// (version 1 or 2) that the file `list` names in the format of /proc/self/cgroup, and of their
// parent groups. `mount` is where the control groups are mounted. UINT_MAX means no limit.
unsigned group_cores(const std::string &list, const std::string &mount);

}  // namespace lanecrypt::cpu
