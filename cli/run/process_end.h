// Waits for the end of a process that is not a child.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/io/file_descriptor.h"

namespace lanecrypt::cli {

// A process, identified by a descriptor, which stays valid if its process ID is reused.
struct WatchedProcess {
  // How to detect the end of the process: kPidfd polls a pidfd; kStat reads /proc/PID/stat
  // repeatedly, where there are no pidfds (Linux before 5.3, and containers whose seccomp filter
  // does not know them).
  enum class By { kPidfd, kStat };

  FileDescriptor descriptor;
  By by;

  // Returns this process. Throws Failure.
  static WatchedProcess self();
};

// Returns once the process has ended with all its threads. The caller may be a forked child in
// which the descriptor has another number.
void wait_for_end(int descriptor, WatchedProcess::By by);

}  // namespace lanecrypt::cli
