// SPDX-License-Identifier: Apache-2.0
#include "process/thread.h"

#include "process/sandbox.h"

namespace lanecrypt::process {
namespace {

// Since this was loaded.
const SandboxWatch watch;

}  // namespace

bool is_sandboxed() { return watch.has_come(); }

}  // namespace lanecrypt::process
