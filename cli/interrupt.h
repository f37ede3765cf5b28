// Ctrl-C and similar signals, taken by a thread of their own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <functional>
#include <thread>

#include "cli/io/file_descriptor.h"

namespace lanecrypt::cli {

// While it lives, SIGINT, SIGTERM and SIGHUP run `on_signal` on another thread and then
// end the process by that same signal, so that its parent sees what it expects (a shell:
// 128 plus the signal's number). A signal that was ignored when the process began (nohup)
// stays ignored. Make it before all threads that are to leave signals alone.
class InterruptWatch {
 public:
  // Throws Failure if the system has no descriptor or no thread for it.
  explicit InterruptWatch(std::function<void()> on_signal);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch &) = delete;
  InterruptWatch &operator=(const InterruptWatch &) = delete;

 private:
  sigset_t watched_;
  sigset_t before_;
  FileDescriptor end_;      // written to when it ends
  FileDescriptor signals_;  // where the signals come
  std::thread watcher_;
};

}  // namespace lanecrypt::cli
