// Hashes on one device, on its own thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <list>
#include <memory>

#include "batch/device_thread.h"
#include "batch/device_trust.h"
#include "hash/device_hashes.h"
#include "hash/host_hashes.h"

namespace lanecrypt::runtime {

// `HashWorker` runs hash jobs on one device. Thread-safe. The device is opened, used and closed on
// the worker's thread.
class HashWorker : public DeviceThread {
 public:
  // Called on the worker's thread with a job that the worker cannot do, and the reason.
  using HandBack = std::function<void(const HashRequestPointer &, const Status &)>;

  HashWorker(device::Found found, Counters &counters, const DeviceTrust &trust,
             uint64_t pinned_bytes, Workers &workers, HandBack hand_back);
  ~HashWorker() override { stop(); }
  // Completes the jobs that it has. After cancel_pending(), work that has not begun fails instead.
  void stop() { end(); }
  void cancel_pending();

  uint64_t load_bytes() const { return load_bytes_; }
  // Enqueues a request. Returns false if the device is not usable.
  bool submit(const HashRequestPointer &request);

 private:
  using Clock = std::chrono::steady_clock;

  Status open() override;
  bool has_work() const override { return !arrived_.empty() || !under_way_.empty(); }
  void serve(std::unique_lock<std::mutex> &lock) override;
  void fail(std::unique_lock<std::mutex> &lock, const Status &status) override;
  void close() override;

  Status self_test();
  Failure run_on_host_memory(const HashRequestPointer &request);
  Failure start_on_device(const HashRequestPointer &request);
  std::list<std::unique_ptr<DeviceHashes>> take_flight();
  Status begin_flight(DeviceHashes &flight);
  Failure retire_over();
  Failure retire(DeviceHashes &flight);
  bool is_overdue(const DeviceHashes &flight) const;
  void count(HashRequest &request);
  void leave(const HashRequestPointer &request, const Failure &failure);
  Status told(const Status &status) const noexcept;

  device::Found found_;
  const DeviceTrust trust_;
  const HostHashesOptions options_;
  Workers &workers_;
  const HandBack hand_back_;

  std::atomic<uint64_t> load_bytes_{0};
  std::atomic<bool> cancels_pending_{false};
  std::deque<HashRequestPointer> arrived_;

  // Only the worker's thread uses these. Other threads may check whether under_way_ is empty.
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<HashLaunch> launch_;
  std::unique_ptr<HostHashes> host_;
  std::list<std::unique_ptr<DeviceHashes>> under_way_, free_;
  uint64_t self_test_launches_ = 0;
  bool is_stuck_ = false;
};

}  // namespace lanecrypt::runtime
