// A task of the CPU that shares one core with something else. Harrison and Waldron 2007
// call what it keeps the CPU's idle time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <cstdint>
#include <functional>

namespace lanecrypt::bench {

// While it lives, this thread and all that it starts have one core, as the machines of
// the paper had.
class OneCore {
 public:
  OneCore();
  ~OneCore();
  OneCore(const OneCore &) = delete;
  OneCore &operator=(const OneCore &) = delete;

  // False where the process may not choose its core.
  bool is_set() const { return is_set_; }

 private:
  cpu_set_t before_{};
  bool is_set_ = false;
};

// A task that only counts.
class CountingTask {
 public:
  // Takes about so long, alone on this core.
  explicit CountingTask(double seconds);
  // How long it took.
  double run() const;

 private:
  uint64_t steps_ = 1 << 20;
};

// How much of its core the task keeps while another thread calls `work` over and over:
// 100 times its time alone, measured just before, over its time then; and for how long
// `work` was called. Throws what `work` throws.
struct Share {
  double percent, seconds;
};
Share share_beside(const CountingTask &task, const std::function<void()> &work);

}  // namespace lanecrypt::bench
