// Protection against SIGXFSZ, which ends a process at a write beyond the file size limit
// (RLIMIT_FSIZE). Files that we write in addition to a program's own work must not cause that.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <signal.h>

namespace lanecrypt::process {

// FileSizeSignalBlocked makes such writes of this thread fail with EFBIG while it lives.
class FileSizeSignalBlocked {
 public:
  FileSizeSignalBlocked() {
    sigemptyset(&only_);
    sigaddset(&only_, SIGXFSZ);
    was_pending_ = is_pending();
    pthread_sigmask(SIG_BLOCK, &only_, &before_);
  }
  ~FileSizeSignalBlocked() {
    constexpr timespec kNow = {};
    if (!was_pending_ && is_pending()) (void)sigtimedwait(&only_, nullptr, &kNow);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileSizeSignalBlocked(const FileSizeSignalBlocked &) = delete;

 private:
  static bool is_pending() {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
  }

  sigset_t only_, before_;
  bool was_pending_;
};

}  // namespace lanecrypt::process
