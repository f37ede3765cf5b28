// Chooses the device for a hash job, and the fallback if that device fails.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "hash/hash_cpu.h"
#include "hash/hash_worker.h"

namespace lanecrypt::runtime {

// `HashDispatcher` dispatches hash jobs. Thread-safe.
class HashDispatcher {
 public:
  HashDispatcher(Counters &cpu_counters, lc_fallback fallback, const DeviceTrust &trust,
                 uint64_t pinned_bytes, unsigned cores);
  ~HashDispatcher() { stop(); }
  // To be called before the first job, in the order of the devices' indices.
  void add_device(device::Found found, Counters &counters, bool is_selected);
  // Completes the jobs in flight. After cancel_pending(), work that has not begun fails instead.
  void stop();
  void cancel_pending();

  // Starts a request that is not empty; the request completes asynchronously. If this returns an
  // error, nothing is started.
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
  std::vector<uint32_t> selected_;  // indices in workers_
};

}  // namespace lanecrypt::runtime
