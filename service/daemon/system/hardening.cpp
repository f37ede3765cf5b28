// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/system/hardening.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "service/daemon/failure.h"

namespace lanecrypt::service::daemon {

void harden() {
  (void)umask(0077);
  // Writes to sockets use MSG_NOSIGNAL. Writes to a pipe or a file of the parent process do not,
  // and a file may be at its size limit: such a write then fails, and its text is dropped.
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  constexpr rlimit kNone{0, 0};
  if (setrlimit(RLIMIT_CORE, &kNone) != 0) throw Failure("cannot set RLIMIT_CORE", errno);
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) throw Failure("cannot set PR_SET_DUMPABLE", errno);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    throw Failure("cannot set PR_SET_NO_NEW_PRIVS", errno);
}

size_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) throw Failure("cannot read RLIMIT_NOFILE", errno);
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  // If there is no limit, this many are more than enough.
  constexpr rlim_t kMost = 1 << 20;
  return size_t(std::min(limit.rlim_cur, kMost));
}

void hold_standard_descriptors() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    if (open("/dev/null", O_RDWR) != number) throw Failure("cannot open /dev/null", errno);
  }
}

}  // namespace lanecrypt::service::daemon
