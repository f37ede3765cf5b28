// What the command and lanecrypt-bench do around their work: the state of the process
// that both need, the parser, and what happens to an exception.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/failure.h"
#include "cli/subcommand.h"

namespace lanecrypt::cli {

// All of main(). Gives the exit code of `run`, or of the exception that it threw, which
// is told on standard error.
int run_program(const std::function<int()> &run);

// Makes the subcommand `name` parse argv[first..argc), and runs it. Gives the exit code.
int run_subcommand(std::string_view name, Subcommand &subcommand, int argc, char **argv, int first);

// The file of another program of ours, such as "lanecrypt-bench". It lies beside this
// one, in the build folder and where it is installed. Throws Failure if there is no
// /proc, or if this process has more rights than its caller, who may have linked it into
// a folder of his own.
std::string program_beside(const char *name);

// Prints a text that is not empty on standard error, after "lanecrypt: ". Gives the exit code.
int fail(ExitCode code, std::string_view text);

}  // namespace lanecrypt::cli
