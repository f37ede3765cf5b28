// `lanecrypt slh-dsa`: makes SLH-DSA keys (FIPS 205), and signs and verifies files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/subcommand.h"

namespace lanecrypt::cli {

// Runs the subcommand that argv[2] names. Returns the exit code.
int start_slh_dsa(int argc, char **argv);

std::unique_ptr<Subcommand> make_slh_keygen();
std::unique_ptr<Subcommand> make_slh_public();
std::unique_ptr<Subcommand> make_slh_sign();
std::unique_ptr<Subcommand> make_slh_verify();

}  // namespace lanecrypt::cli
