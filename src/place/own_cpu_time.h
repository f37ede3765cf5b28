// The CPU time of this process without what threads of the program take, which go on
// with their work while a device is measured beside them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace lanecrypt::place {

// Any thread: it does not change.
class OwnCpuTime {
 public:
  // The threads that there are now are the program's. Those that it starts later
  // count as ours: a device then seems to take more than it does, never less.
  static OwnCpuTime without_present_threads();
  // Of all threads.
  OwnCpuTime() = default;

  // In nanoseconds, from some beginning. The calling thread counts, whosever it is.
  uint64_t now_ns() const;

 private:
  std::vector<pid_t> others_;
};

}  // namespace lanecrypt::place
