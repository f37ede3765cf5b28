// Where a single operation runs: on the CPU of its caller, which can do it itself, or
// in a device's next batch. A single caller is served sooner by its CPU; many at once, by
// a device. (As in SSLShader: K. Jang and others, "SSLShader: Cheap SSL Acceleration with
// Commodity Processors", NSDI 2011.)
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "batch/batch_kind.h"

namespace lanecrypt::runtime {

// Any thread, and no lock where the CPU is the plain choice.
class BatchChoice {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::nanoseconds;
  // What is known of an operation before any was measured.
  struct OperationProfile {
    BatchKind kind;
    size_t slot = 0;      // below kSlots: those that take a core as long share one
    Duration guess = {};  // what a device may take before any was seen
    // What a core takes at least, which counts before one was seen; 0: the first stay there.
    Duration least_on_cpu = {};
  };
  static constexpr size_t kSlots = 54;
  struct Devices {
    // Operations that wait or are under way on all of them.
    std::function<size_t()> load;
    // As BatchDispatcher has it.
    std::function<std::optional<Duration>(BatchKind kind, Duration guess)> estimate;
    // Opens them, without waiting.
    std::function<void()> warm_up;
    // A test has a clock of its own.
    Clock::time_point (*now)() = &Clock::now;
  };

  // At least one core.
  BatchChoice(Devices devices, unsigned cores);

  // Whether a device is sooner. Where it is not, the caller counts as one at
  // work on its CPU until report_cpu_time(). in_line: how many operations the calling
  // thread has to do, which wait for one another on the CPU.
  bool is_device_sooner(const OperationProfile &profile, uint32_t in_line);
  // 0: it was not measured.
  void report_cpu_time(const OperationProfile &profile, Duration took);

 private:
  uint32_t recent_callers(uint32_t now, Duration window);

  const Devices devices_;
  const uint32_t cores_;
  std::atomic<uint32_t> on_cpu_{0};
  // What one operation takes on a core; 0: not known yet.
  std::array<std::atomic<int64_t>, kSlots> cpu_nanoseconds_{};
  // The most callers at once, in this window of time and in the one before:
  // when a batch ends they all seem to be gone for a moment.
  std::atomic<int64_t> window_began_{0};
  std::atomic<uint32_t> most_now_{0}, most_before_{0};
};

}  // namespace lanecrypt::runtime
