// SPDX-License-Identifier: Apache-2.0
#include "cli/run/process_end.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "cli/failure.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace lanecrypt::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{100};

// Returns whether the process of an open /proc/PID/stat has ended. By proc(5), the third field is
// the state, and the twentieth the number of threads. The main thread may have ended (Z) before the
// other threads. The second field, the program's name, may contain any character.
bool has_ended(int stat) {
  char text[1024];
  const ssize_t bytes = pread(stat, text, sizeof text - 1, 0);
  // After the process has been reaped, a read fails with ESRCH.
  if (bytes <= 0) return true;
  text[bytes] = '\0';
  const char *const name_end = std::strrchr(text, ')');
  char state = 0;
  long threads = 0;
  if (name_end == nullptr ||
      std::sscanf(name_end + 1,
                  " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                  "%*s %ld",
                  &state, &threads) != 2)
    return true;
  return (state == 'Z' || state == 'X') && threads <= 1;
}

}  // namespace

WatchedProcess WatchedProcess::self() {
  WatchedProcess process{FileDescriptor(int(syscall(SYS_pidfd_open, getpid(), 0))), By::kPidfd};
  if (process.descriptor) return process;
  process = {FileDescriptor(open("/proc/self/stat", O_RDONLY | O_CLOEXEC)), By::kStat};
  if (!process.descriptor) throw_errno("cannot watch for the end of this process", errno);
  return process;
}

void wait_for_end(int descriptor, WatchedProcess::By by) {
  if (by == WatchedProcess::By::kStat) {
    while (!has_ended(descriptor)) std::this_thread::sleep_for(kBetweenLooks);
    return;
  }
  pollfd event{descriptor, POLLIN, 0};
  while (poll(&event, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace lanecrypt::cli
