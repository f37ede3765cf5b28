// SPDX-License-Identifier: Apache-2.0
#include "process/sandbox.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "process/forks.h"

namespace lanecrypt::process {
namespace {

constexpr int64_t kLookAgainMs = 10;

// The number behind `field` in /proc/self/status; -1 where it cannot be read.
int64_t status_field(const char *field) {
  char text[8192];
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t bytes = read(file, text, sizeof text - 1);
  close(file);
  if (bytes <= 0) return -1;
  text[bytes] = '\0';
  const char *at = std::strstr(text, field);
  return at == nullptr ? -1 : std::strtoll(at + std::strlen(field), nullptr, 10);
}

}  // namespace

SandboxWatch::State SandboxWatch::look(bool with_filters) {
  State state;
  state.no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
  state.seccomp = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
  if (with_filters) state.filters = status_field("\nSeccomp_filters:");
  return state;
}

SandboxWatch::SandboxWatch()
    : at_load_([] {
        State state = look(false);
        // Who has filters already may add more, which prctl() does not tell.
        if (state.seccomp != 0) state.filters = status_field("\nSeccomp_filters:");
        return state;
      }()) {}

bool SandboxWatch::has_come() const {
  const State now = look(false);
  if (now.no_new_privs != at_load_.no_new_privs || now.seccomp != at_load_.seccomp) return true;
  if (now.seccomp == 0) return false;
  // The kernel does not tell how many filters there are: be careful.
  if (at_load_.filters < 0) return true;
  timespec time = {};
  (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  const int64_t now_ms = int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1000000;
  const int64_t before = looked_at_.load(std::memory_order_relaxed);
  const uint64_t born_in = forks();
  if (before >= 0 && now_ms - before < kLookAgainMs &&
      looked_after_forks_.load(std::memory_order_relaxed) == born_in)
    return false;
  // Where nothing may be opened any more the answer is -1, which differs.
  if (look(true).filters != at_load_.filters) return true;
  looked_after_forks_.store(born_in, std::memory_order_relaxed);
  looked_at_.store(now_ms, std::memory_order_relaxed);
  return false;
}

}  // namespace lanecrypt::process
