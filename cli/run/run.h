// `lanecrypt run`: runs any program with a private service.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::cli {

// Starts a service and executes the program that argv names after the options, from argv[2] on.
// Returns an exit code if that fails.
int start_run(int argc, char **argv);

}  // namespace lanecrypt::cli
