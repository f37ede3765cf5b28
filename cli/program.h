// What the command and lanecrypt-bench do around their work: the state of the process
// that both want, the parser, and what becomes of what is thrown.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/failure.h"
#include "cli/subcommand.h"

namespace lanecrypt::cli {

// The whole of main(): gives the exit code of `run`, or that of what it threw, which is
// told on standard error.
int run_program(const std::function<int()> &run);

// Has the subcommand `name` parse argv[first..argc), and runs it. Gives the exit code.
int run_subcommand(std::string_view name, Subcommand &subcommand, int argc, char **argv, int first);

// The file of another program of ours, such as "lanecrypt-bench": it lies beside this one's, in
// the build folder and where it is installed. Throws Failure where there is no /proc,
// and where this process has more rights than its caller, who may have linked it to a folder
// of his own.
std::string program_beside(const char *name);

// Tells it on standard error, after "lanecrypt: ". Gives the exit code.
int fail(ExitCode code, std::string_view text);

}  // namespace lanecrypt::cli
