// Which device does a job of hashes, and what becomes of it if that device fails.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "hash/hash_cpu.h"
#include "hash/hash_worker.h"

namespace lanecrypt::runtime {

// Any thread.
class HashDispatcher {
 public:
  HashDispatcher(Counters &cpu_counters, lc_fallback fallback, const DeviceTrust &trust,
                 uint64_t pinned_bytes, unsigned cores);
  ~HashDispatcher() { stop(); }
  // Before the first job, in the order of the devices' numbers.
  void add_device(device::Found found, Counters &counters, bool is_selected);
  // Finishes what is under way. cancel_pending() has it leave undone what is not begun.
  void stop();
  void cancel_pending();

  // Starts a request that is not empty; it ends by itself. An error starts nothing.
  Status submit(const HashRequestPointer &request);
  DeviceService service(uint32_t number) const { return workers_[number]->service(); }

 private:
  HashWorker *choose(const std::vector<uint32_t> &tried) const;
  bool suits_devices(const HashJob &job) const;
  void take_over(const HashRequestPointer &request, uint32_t from, const Status &why);

  const lc_fallback fallback_;
  const DeviceTrust trust_;
  const uint64_t pinned_bytes_;
  HashCpu cpu_;
  std::vector<std::unique_ptr<HashWorker>> workers_;
  std::vector<uint32_t> selected_;  // numbers in workers_
};

}  // namespace lanecrypt::runtime
