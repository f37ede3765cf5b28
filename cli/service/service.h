// `lanecrypt service`: prints the state of a running service.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::cli {

// Runs the subcommand that argv[2] names. Returns the exit code.
int start_service(int argc, char **argv);

}  // namespace lanecrypt::cli
