// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "cli/failure.h"
#include "process/printable.h"

namespace lanecrypt::cli {

void hold_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() returns the lowest free number, which is this one. The direction is the wrong one, so
    // that reads or writes fail. Because of O_CLOEXEC, a program that this process executes finds
    // the descriptor closed again.
    (void)open("/dev/null", (descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
  }
}

void say(std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

void complain(std::string_view text) {
  say(fmt::format("lanecrypt: {}\n", process::printable(text)));
}

void finish_standard_output() {
  if (std::fflush(stdout) != 0) throw_errno("cannot write standard output", errno);
  if (std::ferror(stdout) != 0) throw Failure(ExitCode::kFailed, "cannot write standard output");
}

}  // namespace lanecrypt::cli
