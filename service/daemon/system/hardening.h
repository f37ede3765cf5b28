// Restricts the service's own process, before it has secrets.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace lanecrypt::service::daemon {

// Forbids core dumps, tracing by other processes of its user, and more rights through programs that
// it starts; makes new files accessible to their owner alone; ignores SIGPIPE and SIGXFSZ. Throws
// Failure if the system refuses.
void harden();

// Raises the limit of descriptors as far as the process may, and returns it.
size_t raise_descriptor_limit();

// Opens /dev/null for standard input, output and error if they are closed, so that no file of the
// service gets their numbers.
void hold_standard_descriptors();

}  // namespace lanecrypt::service::daemon
