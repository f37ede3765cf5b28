// SPDX-License-Identifier: Apache-2.0
#include "bench/report/core_share.h"

#include <atomic>
#include <exception>
#include <thread>

#include "bench/load/pass.h"

namespace lanecrypt::bench {
namespace {

uint64_t count(uint64_t steps) {
  volatile uint64_t value = 1;
  for (uint64_t n = 0; n < steps; n++) value = value * 6364136223846793005u + 1442695040888963407u;
  return value;
}

}  // namespace

OneCore::OneCore() {
  if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &before_)) {
      CPU_SET(cpu, &one);
      break;
    }
  is_set_ = sched_setaffinity(0, sizeof one, &one) == 0;
}

OneCore::~OneCore() {
  if (is_set_) (void)sched_setaffinity(0, sizeof before_, &before_);
}

CountingTask::CountingTask(double seconds) {
  for (;; steps_ *= 2) {
    const double taken = run();
    if (taken <= seconds / 4) continue;
    steps_ = static_cast<uint64_t>(static_cast<double>(steps_) * seconds / taken);
    return;
  }
}

double CountingTask::run() const {
  return seconds_of([&] { count(steps_); });
}

Share concurrent_share(const CountingTask &task, const std::function<void()> &work) {
  const double alone = task.run();
  std::atomic<bool> over{false};
  std::exception_ptr failure;
  double seconds = 0;
  std::thread beside([&] {
    try {
      seconds = seconds_of([&] {
        do {
          work();
        } while (!over);
      });
    } catch (...) {
      failure = std::current_exception();
    }
  });
  const double with = task.run();
  over = true;
  beside.join();
  if (failure) std::rethrow_exception(failure);
  return {100 * alone / with, seconds};
}

}  // namespace lanecrypt::bench
