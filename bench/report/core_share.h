// Measures the share of a core that a CPU-bound task keeps while something else runs on it.
// Harrison and Waldron 2007 call this the CPU's idle time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <cstdint>
#include <functional>

namespace lanecrypt::bench {

// While this object lives, the calling thread and all threads that it starts are bound to one
// core, like the single-core machines of the paper.
class OneCore {
 public:
  OneCore();
  ~OneCore();
  OneCore(const OneCore &) = delete;
  OneCore &operator=(const OneCore &) = delete;

  // Returns false if the process may not set its affinity.
  bool is_set() const { return is_set_; }

 private:
  cpu_set_t before_{};
  bool is_set_ = false;
};

// A task that only counts.
class CountingTask {
 public:
  // Chooses a count that takes about `seconds` on an idle core.
  explicit CountingTask(double seconds);
  // Runs the task and returns the seconds that it took.
  double run() const;

 private:
  uint64_t steps_ = 1 << 20;
};

// The share of its core, in per cent, that `task` keeps while another thread calls `work` in a
// loop: 100 times the task's time alone, measured just before, divided by its time with the loop.
// `seconds` is how long the loop ran. concurrent_share() rethrows what `work` throws.
struct Share {
  double percent, seconds;
};
Share concurrent_share(const CountingTask &task, const std::function<void()> &work);

}  // namespace lanecrypt::bench
