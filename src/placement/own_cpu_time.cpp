// SPDX-License-Identifier: Apache-2.0
#include "placement/own_cpu_time.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

namespace lanecrypt::placement {
namespace {

uint64_t read_clock(clockid_t clock) {
  timespec time = {};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

// Linux's number of the clock of a thread's CPU time. glibc's pthread_getcpuclockid() gives the
// same, but needs a pthread_t, which we do not have for threads of others.
clockid_t clock_of(pid_t thread) {
  constexpr unsigned kOfThread = 4, kScheduler = 2;
  return static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | kOfThread | kScheduler);
}

}  // namespace

OwnCpuTime OwnCpuTime::without_present_threads() {
  OwnCpuTime made;
  const auto close = [](DIR *folder) { closedir(folder); };
  const std::unique_ptr<DIR, decltype(close)> folder(opendir("/proc/self/task"), close);
  if (folder == nullptr) return made;
  while (const dirent *entry = readdir(folder.get()))
    if (const long thread = std::strtol(entry->d_name, nullptr, 10); thread > 0)
      made.others_.push_back(static_cast<pid_t>(thread));
  return made;
}

uint64_t OwnCpuTime::now_ns() const {
  // glibc has a function for it from 2.30 on.
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  uint64_t others = 0;
  for (const pid_t thread : others_)
    if (thread != self) others += read_clock(clock_of(thread));
  // The other threads go on between these two readings. The result must not be negative.
  const uint64_t all = read_clock(CLOCK_PROCESS_CPUTIME_ID);
  return all > others ? all - others : 0;
}

}  // namespace lanecrypt::placement
