// Whether this process is still the one that made a thing, or a child of fork that
// inherited it. A process number does not tell: the first process of a container has
// number 1, and so may its child have in a container of its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanecrypt::process {

// How often this process, or one that it came from, was copied by fork() or by any other
// call that copies a process's memory. It costs no system call. Any thread may call it.
uint64_t forks();

}  // namespace lanecrypt::process
