// `lanecrypt slh-dsa`: keys and signatures of SLH-DSA (FIPS 205) as files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/subcommand.h"

namespace lanecrypt::cli {

// argv[2] says what is wanted. Gives the exit code.
int start_slh_dsa(int argc, char **argv);

std::unique_ptr<Subcommand> make_slh_keygen();
std::unique_ptr<Subcommand> make_slh_public();
std::unique_ptr<Subcommand> make_slh_sign();
std::unique_ptr<Subcommand> make_slh_verify();

}  // namespace lanecrypt::cli
