// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/log.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <string>

#include "process/printable.h"

namespace lanecrypt::service::daemon {

void say(std::string_view text) {
  // In one piece, so that lines of several threads do not mix.
  const std::string line = fmt::format("lanecryptd: {}\n", process::printable(text));
  // If nobody reads it, nobody can be told. Where that is a pipe that is full, the service goes
  // on without it.
  pollfd reader{STDERR_FILENO, POLLOUT, 0};
  if (poll(&reader, 1, 0) == 0) return;
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace lanecrypt::service::daemon
