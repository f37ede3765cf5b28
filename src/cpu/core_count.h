// How many cores this process may use. What the machine has is often shared out. The
// command has a copy of this file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lanecrypt::cpu {

// The cores that the calling thread may run on, but no more than its control group has
// time of, in whole cores. At least one.
unsigned usable_cores();

// How many of these take parts of one large request, or of one file, together: at most
// eight. It is a guess: other programs want some cores, and all share the memory and the
// kernel.
unsigned bulk_cores();

// `list` names control groups (of both versions), in the form of /proc/self/cgroup, under
// `mount`. Returns the least number of cores whose time one of them has, or a group that
// it is in, rounded down, at least 1. UINT_MAX: no limit.
unsigned group_cores(const std::string &list, const std::string &mount);

}  // namespace lanecrypt::cpu
