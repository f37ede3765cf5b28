// What the provider has done: the numbers behind its gettable parameters.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace lanecrypt::provider {

struct Totals {
  uint64_t device_jobs = 0;   // requests of which at least a part ran on a device
  uint64_t device_bytes = 0;  // bytes that ran on devices
  uint64_t cpu_jobs = 0;      // requests of which nothing ran on a device
  uint64_t cpu_bytes = 0;     // bytes that ran on the CPU
  uint64_t failures = 0;      // requests that were meant for a device and failed there
  // Keys of RSA that were made.
  uint64_t rsa_device_keys = 0, rsa_cpu_keys = 0;
  // Private operations of RSA; failures of both.
  uint64_t rsa_device_jobs = 0, rsa_cpu_jobs = 0, rsa_failures = 0;
};

// Counts from any thread. Small requests are many and short, so threads that
// count at once do so on different cache lines.
class Counters {
 public:
  void count_cpu(uint64_t bytes) {
    Slot &slot = slot_of_thread();
    add(slot.cpu_jobs, 1);
    add(slot.cpu_bytes, bytes);
  }
  void count_device(uint64_t device_bytes, uint64_t cpu_bytes) {
    Slot &slot = slot_of_thread();
    add(slot.device_jobs, 1);
    add(slot.device_bytes, device_bytes);
    add(slot.cpu_bytes, cpu_bytes);
  }
  // What the CPU did of a request that a device did the most of.
  void count_cpu_rest(uint64_t bytes) { add(slot_of_thread().cpu_bytes, bytes); }
  void count_failure() { add(slot_of_thread().failures, 1); }
  void count_rsa_device_key() { add(slot_of_thread().rsa_device_keys, 1); }
  void count_rsa_cpu_key() { add(slot_of_thread().rsa_cpu_keys, 1); }
  void count_rsa_device() { add(slot_of_thread().rsa_device_jobs, 1); }
  void count_rsa_cpu() { add(slot_of_thread().rsa_cpu_jobs, 1); }
  void count_rsa_failure() { add(slot_of_thread().rsa_failures, 1); }

  Totals totals() const {
    Totals sum;
    for (const Slot &slot : slots_) {
      sum.device_jobs += slot.device_jobs.load(std::memory_order_relaxed);
      sum.device_bytes += slot.device_bytes.load(std::memory_order_relaxed);
      sum.cpu_jobs += slot.cpu_jobs.load(std::memory_order_relaxed);
      sum.cpu_bytes += slot.cpu_bytes.load(std::memory_order_relaxed);
      sum.failures += slot.failures.load(std::memory_order_relaxed);
      sum.rsa_device_keys += slot.rsa_device_keys.load(std::memory_order_relaxed);
      sum.rsa_cpu_keys += slot.rsa_cpu_keys.load(std::memory_order_relaxed);
      sum.rsa_device_jobs += slot.rsa_device_jobs.load(std::memory_order_relaxed);
      sum.rsa_cpu_jobs += slot.rsa_cpu_jobs.load(std::memory_order_relaxed);
      sum.rsa_failures += slot.rsa_failures.load(std::memory_order_relaxed);
    }
    return sum;
  }

  // A child of fork begins at nothing. Safe there: no lock.
  void clear() {
    for (Slot &slot : slots_)
      for (auto *counter : {&slot.device_jobs, &slot.device_bytes, &slot.cpu_jobs, &slot.cpu_bytes,
                            &slot.failures, &slot.rsa_device_keys, &slot.rsa_cpu_keys,
                            &slot.rsa_device_jobs, &slot.rsa_cpu_jobs, &slot.rsa_failures})
        counter->store(0, std::memory_order_relaxed);
  }

 private:
  struct alignas(64) Slot {
    std::atomic<uint64_t> device_jobs{0}, device_bytes{0}, cpu_jobs{0}, cpu_bytes{0}, failures{0},
        rsa_device_keys{0}, rsa_cpu_keys{0}, rsa_device_jobs{0}, rsa_cpu_jobs{0}, rsa_failures{0};
  };
  static void add(std::atomic<uint64_t> &counter, uint64_t amount) {
    counter.fetch_add(amount, std::memory_order_relaxed);
  }
  // The number of a thread is the address of its block, some KiB apart.
  Slot &slot_of_thread() {
    const uint64_t thread = uint64_t(pthread_self());
    return slots_[((thread >> 12) * 0x9E3779B97F4A7C15u) >> 60];
  }
  std::array<Slot, 16> slots_;
};

}  // namespace lanecrypt::provider
