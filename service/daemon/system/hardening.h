// What the service does to its own process before it has secrets.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace lanecrypt::service::daemon {

// No core dump, no tracing by others of its user, no further rights by programs that it
// starts, and files for its owner alone. Throws Failure where the system refuses.
void harden();

// Makes the limit of descriptors as high as it may be, and gives it.
size_t raise_descriptor_limit();

// Fills the places of standard input, output and error that are closed, so that no file of
// ours gets their numbers.
void hold_standard_descriptors();

}  // namespace lanecrypt::service::daemon
