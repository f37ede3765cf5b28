// `lanecrypt service`: what a service that runs tells of itself.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::cli {

// argv[2] says what is wanted. Gives the exit code.
int start_service(int argc, char **argv);

}  // namespace lanecrypt::cli
