// SPDX-License-Identifier: Apache-2.0
#include "process/thread.h"

#include "process/sandbox.h"

namespace lanecrypt::process {
namespace {

// Since this was loaded.
const SandboxWatch watch;

}  // namespace

// Where the state at load could not be told, we start threads: whoever loaded this on
// purpose wants them, and the provider does not load it there.
bool is_sandboxed() { return watch.could_tell() && watch.has_come(); }

}  // namespace lanecrypt::process
