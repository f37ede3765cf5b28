// SPDX-License-Identifier: Apache-2.0
#include "batch/batch_choice.h"

#include <algorithm>
#include <utility>

namespace lanecrypt::runtime {
namespace {

constexpr BatchChoice::Duration kLeastWindow = std::chrono::milliseconds(8);
// The part of the device's estimate that counts if it may be no better than the CPU's.
constexpr int64_t kMarginPercent = 10;

}  // namespace

BatchChoice::BatchChoice(Devices devices, unsigned cores)
    : devices_(std::move(devices)), cores_(cores) {}

uint32_t BatchChoice::recent_callers(uint32_t now, Duration window) {
  const int64_t time = devices_.now().time_since_epoch().count();
  int64_t began = window_began_.load(std::memory_order_relaxed);
  if (time - began > window.count() && window_began_.compare_exchange_strong(began, time)) {
    const uint32_t last = most_now_.exchange(now, std::memory_order_relaxed);
    most_before_.store(time - began > 2 * window.count() ? 0 : last, std::memory_order_relaxed);
  }
  uint32_t most = most_now_.load(std::memory_order_relaxed);
  while (most < now && !most_now_.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
  return std::max({now, most, most_before_.load(std::memory_order_relaxed)});
}

bool BatchChoice::is_device_sooner(const OperationProfile &profile, uint32_t in_line) {
  const uint32_t on_cpu = on_cpu_.fetch_add(1, std::memory_order_relaxed) + 1;
  int64_t alone = cpu_nanoseconds_[profile.slot].load(std::memory_order_relaxed);
  if (alone == 0) alone = profile.least_on_cpu.count();
  if (alone == 0) return false;
  const uint32_t callers = on_cpu + uint32_t(std::min<size_t>(devices_.load(), 1u << 30));
  const uint32_t recent = recent_callers(callers, std::max(kLeastWindow, 4 * Duration(alone)));
  // The callers share the cores; the operations of one thread, one.
  const int64_t own = alone * std::max<int64_t>({1, recent / cores_, in_line});
  if (own < profile.guess.count() / 8) return false;
  const std::optional<Duration> device = devices_.estimate(profile.kind, profile.guess);
  if (!device) {
    if (own > profile.guess.count()) devices_.warm_up();
    return false;
  }
  if (device->count() + device->count() * kMarginPercent / 100 > own) return false;
  on_cpu_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

void BatchChoice::report_cpu_time(const OperationProfile &profile, Duration took) {
  // With more callers than cores they wait for each other, which says nothing
  // of the operation.
  const uint32_t at_work = on_cpu_.fetch_sub(1, std::memory_order_relaxed);
  if (took.count() <= 0) return;
  std::atomic<int64_t> &known = cpu_nanoseconds_[profile.slot];
  const int64_t before = known.load(std::memory_order_relaxed);
  if (before == 0)
    known.store(took.count(), std::memory_order_relaxed);
  else if (took.count() < before || at_work <= cores_)
    known.store(before + (took.count() - before) / 8, std::memory_order_relaxed);
}

}  // namespace lanecrypt::runtime
