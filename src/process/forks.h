// Tells whether this process created an object, or is a child of fork() that inherited it. The
// process ID is not sufficient: the first process of a container has ID 1, and so may its child
// have in a nested container.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanecrypt::process {

// forks() returns how often this process, or one of its ancestors, was copied by fork() or by any
// other call that copies a process's memory. It makes no system call. Thread-safe.
uint64_t forks();

}  // namespace lanecrypt::process
