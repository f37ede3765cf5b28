// What lanecrypt and lanecrypt-bench share around their work: the setup of the process, the
// command-line parser, and the handling of exceptions.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/failure.h"
#include "cli/subcommand.h"

namespace lanecrypt::cli {

// The body of main(). Returns the exit code of `run`, or that of the exception that it threw, whose
// text is printed on standard error.
int run_program(const std::function<int()> &run);

// Lets the subcommand `name` parse argv[first..argc), and runs it. Returns the exit code. A parse
// error is printed and returns ExitCode::kUsage.
int run_subcommand(std::string_view name, Subcommand &subcommand, int argc, char **argv, int first);

// Returns the path of another program of this project, such as "lanecrypt-bench", in the folder of
// the running program, both in the build folder and when installed. Throws Failure if there is no
// /proc, or if this process has more rights than its caller (AT_SECURE), who could have linked it
// into a folder of their own.
std::string sibling_program(const char *name);

// Prints `text` on standard error after "lanecrypt: ", unless it is empty. Returns the exit code.
int fail(ExitCode code, std::string_view text);

}  // namespace lanecrypt::cli
