// Which device does a request, and what becomes of it when that device fails.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "batch/batch_cpu.h"
#include "batch/batcher.h"
#include "device/device.h"

namespace lanecrypt::runtime {

// The batchers of one family, one for each device, and the CPU. Thread-safe.
class BatchDispatcher {
 public:
  // Opens a device for the family, on the calling thread, and proves it. An error says why
  // it cannot be used.
  using MakeEngine = std::function<Result<std::unique_ptr<BatchEngine>>(const device::Found &)>;

  // limits: their time is time_limit, or where that is 0 each device's
  // default_time_limit().
  BatchDispatcher(Counters &cpu_counters, lc_fallback fallback, MakeEngine make_engine,
                  std::chrono::milliseconds time_limit = {}, Batcher::Limits limits = {});
  ~BatchDispatcher() { stop(); }
  // Before the first job, in the order of the devices' numbers.
  void add_device(device::Found found, Counters &counters, bool is_selected);
  // Finishes what is under way. cancel_pending() has it leave undone what is not begun.
  void stop();
  void cancel_pending();

  // Starts a request that is not empty; it ends by itself. An error starts
  // nothing.
  Status submit(const BatchRequestPointer &request);

  // Returns whether device `number` was tried, and why it is no longer used for this family.
  DeviceService service(uint32_t number) const { return batchers_[number]->service(); }

  // For BatchChoice, of the selected devices.
  size_t load() const;
  // Until one more operation of a kind would be done, on the best of those that are open
  // and have room; nullopt where none is.
  std::optional<std::chrono::nanoseconds> estimate(BatchKind kind,
                                                   std::chrono::nanoseconds guess) const;
  void warm_up();

 private:
  // Not one of those that are named; nor, where it must have room, one that is full.
  Batcher *choose(const std::vector<uint32_t> &tried, bool with_room) const;
  std::string reasons() const;
  void take_over(const BatchRequestPointer &request, uint32_t from, const Status &why);

  const lc_fallback fallback_;
  const MakeEngine make_engine_;
  const std::chrono::milliseconds time_limit_;
  const Batcher::Limits limits_;
  BatchCpu cpu_;
  std::vector<std::unique_ptr<Batcher>> batchers_;
  std::vector<uint32_t> selected_;  // numbers in batchers_
};

}  // namespace lanecrypt::runtime
