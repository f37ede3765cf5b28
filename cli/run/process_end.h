// Tells a process that another has ended which is no child of its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/io/file_descriptor.h"

namespace lanecrypt::cli {

// A process by a descriptor, which stays that process's when its number is another's.
struct WatchedProcess {
  // How its end is told: poll() of a pidfd tells. Where there is none (Linux before 5.3, and
  // containers whose filter of seccomp does not know them), the process's file of /proc/PID/stat is
  // read again and again.
  enum class By { kPidfd, kStat };

  FileDescriptor descriptor;
  By by;

  // This process. Throws Failure.
  static WatchedProcess self();
};

// Returns once the process has ended, with all its threads. The caller may be a child of fork, and
// the descriptor may have another number there.
void wait_for_end(int descriptor, WatchedProcess::By by);

}  // namespace lanecrypt::cli
