// Handles SIGINT, SIGTERM and SIGHUP on a separate thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <functional>
#include <thread>

#include "cli/io/file_descriptor.h"

namespace lanecrypt::cli {

// While an InterruptWatch exists, SIGINT, SIGTERM and SIGHUP run `on_signal` on the watch's thread
// and then terminate the process by the same signal, so that the parent process sees that signal (a
// shell reports 128 plus its number). A signal that was ignored when the process started (nohup)
// stays ignored. Create the watch before any thread that must not receive these signals: threads
// inherit the signal mask.
class InterruptWatch {
 public:
  // Throws Failure if the system has no more descriptors or threads.
  explicit InterruptWatch(std::function<void()> on_signal);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch &) = delete;
  InterruptWatch &operator=(const InterruptWatch &) = delete;

 private:
  sigset_t watched_;
  sigset_t before_;
  FileDescriptor end_;      // eventfd; the destructor writes to it to stop the thread
  FileDescriptor signals_;  // signalfd for `watched_`
  std::thread watcher_;
};

}  // namespace lanecrypt::cli
