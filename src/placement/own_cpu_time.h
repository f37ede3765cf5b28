// The CPU time of this process without that of the program's threads, which go on with their
// work while a device is measured.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace lanecrypt::placement {

// Any thread: it does not change.
class OwnCpuTime {
 public:
  // The threads that there are now are the program's. Threads that it starts later count as ours,
  // so a device may seem to take more CPU time than it does, but never less.
  static OwnCpuTime without_present_threads();
  // The CPU time of all threads.
  OwnCpuTime() = default;

  // In nanoseconds since some moment. The calling thread always counts.
  uint64_t now_ns() const;

 private:
  std::vector<pid_t> others_;
};

}  // namespace lanecrypt::placement
