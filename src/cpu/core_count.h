// How many cores this process may use: what the machine has is often shared out. The
// command has a copy.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lanecrypt::cpu {

// Those that the calling thread may run on, and no more than its control group has the
// time of, in whole cores; at least one.
unsigned usable_cores();

// How many of these take parts of one large request, or of one file, together: at most
// eight. A guess: other programs want some, and memory and the kernel are shared.
unsigned bulk_cores();

// Of the control groups (of both versions) that `list`, in the form of
// /proc/self/cgroup, names, under `mount`, and of all groups that these are in: the least
// number of cores whose time one has, rounded down; at least 1. UINT_MAX: no limit.
unsigned group_cores(const std::string &list, const std::string &mount);

}  // namespace lanecrypt::cpu
