// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/log.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <string>

#include "process/printable.h"

namespace lanecrypt::service::daemon {

void say(std::string_view text) {
  // Writes the line in one call, so that lines of several threads do not mix.
  const std::string line = fmt::format("lanecryptd: {}\n", process::printable(text));
  // If standard error is a full pipe, the line is dropped and the service goes on.
  pollfd reader{STDERR_FILENO, POLLOUT, 0};
  if (poll(&reader, 1, 0) == 0) return;
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace lanecrypt::service::daemon
