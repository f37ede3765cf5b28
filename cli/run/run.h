// `lanecrypt run`: any program, with a service of its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::cli {

// Starts a service and becomes the program that argv names from argv[2] on, behind options.
// Gives an exit code if it does not come to that.
int start_run(int argc, char **argv);

}  // namespace lanecrypt::cli
