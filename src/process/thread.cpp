// Watches for a sandbox from the time when the library is loaded.
//
// SPDX-License-Identifier: Apache-2.0
#include "process/thread.h"

#include "process/sandbox.h"

namespace lanecrypt::process {
namespace {

// The state since this module was loaded.
const SandboxWatch watch;

}  // namespace

// If the state at load time could not be determined, threads are started: a program that loads the
// library on purpose wants them, and the provider does not load it in such a process.
bool is_sandboxed() { return watch.could_tell() && watch.has_come(); }

}  // namespace lanecrypt::process
