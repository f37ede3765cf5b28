// A CPU task that shares one core with something else. Harrison and Waldron 2007 call the share
// that it keeps the CPU's idle time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <cstdint>
#include <functional>

namespace lanecrypt::bench {

// While it exists, this thread and all threads that it starts run on one core, like the machines of
// the paper.
class OneCore {
 public:
  OneCore();
  ~OneCore();
  OneCore(const OneCore &) = delete;
  OneCore &operator=(const OneCore &) = delete;

  // False if the process may not choose its core.
  bool is_set() const { return is_set_; }

 private:
  cpu_set_t before_{};
  bool is_set_ = false;
};

// A task that only counts.
class CountingTask {
 public:
  // Makes a task that takes about `seconds` if it is alone on this core.
  explicit CountingTask(double seconds);
  // Runs the task. Returns how long it took.
  double run() const;

 private:
  uint64_t steps_ = 1 << 20;
};

// The result of concurrent_share(). `percent` is the share of its core that the task keeps: 100
// times its time alone, measured just before, divided by its time while another thread calls `work`
// repeatedly. `seconds` is for how long `work` was called. concurrent_share() throws what `work`
// throws.
struct Share {
  double percent, seconds;
};
Share concurrent_share(const CountingTask &task, const std::function<void()> &work);

}  // namespace lanecrypt::bench
