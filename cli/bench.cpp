// SPDX-License-Identifier: Apache-2.0
#include "cli/bench.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "cli/failure.h"
#include "cli/program.h"

namespace lanecrypt::cli {

void become_bench(char **argv) {
  std::string program = sibling_program("lanecrypt-bench");
  // The program's path replaces the word "bench" as argv[0] of the new program.
  argv[1] = program.data();
  execv(program.c_str(), argv + 1);
  if (errno == ENOENT)
    throw Failure(
        ExitCode::kFailed,
        fmt::format("{}, which measures, is not installed (LANECRYPT_BENCH builds it)", program));
  throw_errno("cannot run " + program, errno);
}

}  // namespace lanecrypt::cli
