// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sched.h>

#include <atomic>
#include <thread>

#include "failure.h"
#include "paper_h.h"

namespace lanecrypt::cli {
namespace {

// One core for this thread and all that it starts, as the machines of the paper had,
// while it lives.
class OneCore {
 public:
  OneCore() {
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
  ~OneCore() {
    if (is_set_) (void)sched_setaffinity(0, sizeof before_, &before_);
  }
  OneCore(const OneCore &) = delete;
  OneCore &operator=(const OneCore &) = delete;

  bool is_set() const { return is_set_; }

 private:
  cpu_set_t before_{};
  bool is_set_ = false;
};

// A task that only counts, and how long it takes.
uint64_t count(uint64_t steps) {
  volatile uint64_t value = 1;
  for (uint64_t n = 0; n < steps; n++) value = value * 6364136223846793005u + 1442695040888963407u;
  return value;
}

uint64_t steps_for(double seconds) {
  uint64_t steps = 1 << 20;
  for (;; steps *= 2) {
    const double taken = seconds_of([&] { count(steps); });
    if (taken > seconds / 4)
      return static_cast<uint64_t>(static_cast<double>(steps) * seconds / taken);
  }
}

}  // namespace

void paper_h_idle(const GlBench &gl) {
  const OneCore one_core;
  if (!one_core.is_set()) {
    gl.bench().note("H: the CPU idle time is left out: the process may not choose its core");
    return;
  }
  const BenchCase run{*find_cipher("aes-128-ecb"), LC_ENCRYPT};
  const uint64_t bytes = gl.is_gpu() ? 4 << 20 : 4 << 10;
  const double seconds = gl.is_small() ? 0.05 : 0.4;
  const uint64_t steps = steps_for(seconds);
  const std::vector<GlWay> ways = {kComputeWay,
                                   kIntegerWay,
                                   {"table8", "xor=table8"},
                                   {"table4", "xor=table4"},
                                   {"raster", "xor=raster"}};
  for (const GlWay &way : ways)
    gl.with(way, [&](const Context &context) {
      PaperData data(context, bytes, false);
      data.by_device(context, 0, run, bytes);
      const unsigned runs = gl.is_small() ? 1 : 3;
      std::vector<double> idle;
      uint64_t passes = 0;
      for (unsigned n = 0; n < runs; n++) {
        const double alone = seconds_of([&] { count(steps); });
        std::atomic<bool> over{false};
        std::exception_ptr failure;
        std::thread beside([&] {
          try {
            while (!over) {
              data.by_device(context, 0, run, bytes);
              passes++;
            }
          } catch (...) {
            failure = std::current_exception();
          }
        });
        const double with = seconds_of([&] { count(steps); });
        over = true;
        beside.join();
        if (failure) std::rethrow_exception(failure);
        idle.push_back(100 * alone / with);
      }
      data.check(run, bytes, "H.idle." + way.name);
      BenchResult result{fmt::format("H.idle.{}.{}", way.name, gl.api()),
                         "% idle",
                         spread_of(idle),
                         bytes,
                         passes,
                         "wall",
                         {}};
      gl.bench().add(std::move(result));
    });
}

}  // namespace lanecrypt::cli
