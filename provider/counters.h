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
  uint64_t cores_bytes = 0;   // of these, those that several cores did at once
  uint64_t failures = 0;      // requests that were meant for a device and failed there
  // Of device_bytes, those for which keystream had been made ahead; and keystream that
  // was made and not used.
  uint64_t keystream_bytes = 0, keystream_wasted_bytes = 0;
  // RSA keys that were made.
  uint64_t rsa_device_keys = 0, rsa_cpu_keys = 0;
  // Private operations of RSA; failures of operations and keys.
  uint64_t rsa_device_jobs = 0, rsa_cpu_jobs = 0, rsa_failures = 0;
};

// Counts from any thread. Small requests are many and short. An addition that other
// threads may meet takes as long as the smallest of them. So the first thread of each
// line owns it, and only that one adds to it. Threads that come later share other lines.
class Counters {
  using Counter = std::atomic<uint64_t>;

 public:
  // One line of counters. Code that counts often remembers its line, and asks it first.
  class alignas(64) Slot {
   public:
    // As Counters::count_cpu(), but only for the thread that owns the line. For others it
    // counts nothing and returns false.
    bool count_cpu(uint64_t bytes) {
      if (owner.load(std::memory_order_relaxed) != this_thread()) return false;
      const Line line{*this, true};
      line.add(&Slot::cpu_jobs, 1);
      line.add(&Slot::cpu_bytes, bytes);
      return true;
    }

   private:
    friend class Counters;
    Counter owner{0};  // a thread; nobody, for a shared line
    Counter device_jobs{0}, device_bytes{0}, cpu_jobs{0}, cpu_bytes{0}, cores_bytes{0}, failures{0},
        keystream_bytes{0}, keystream_wasted_bytes{0}, rsa_device_keys{0}, rsa_cpu_keys{0},
        rsa_device_jobs{0}, rsa_cpu_jobs{0}, rsa_failures{0};
  };

  // Returns the line in which it has counted.
  Slot &count_cpu(uint64_t bytes) {
    const Line line = line_of_thread();
    line.add(&Slot::cpu_jobs, 1);
    line.add(&Slot::cpu_bytes, bytes);
    return line.slot;
  }
  void count_cores(uint64_t bytes) {
    const Line line = line_of_thread();
    line.add(&Slot::cpu_jobs, 1);
    line.add(&Slot::cpu_bytes, bytes);
    line.add(&Slot::cores_bytes, bytes);
  }
  // The line of this thread, if it has one of its own.
  Slot &slot_of_thread() { return slots_[slot_of(this_thread())]; }
  void count_device(uint64_t device_bytes, uint64_t cpu_bytes) {
    const Line line = line_of_thread();
    line.add(&Slot::device_jobs, 1);
    line.add(&Slot::device_bytes, device_bytes);
    line.add(&Slot::cpu_bytes, cpu_bytes);
  }
  // Counts what the CPU did of a request of which a device did the most.
  void count_cpu_rest(uint64_t bytes) { line_of_thread().add(&Slot::cpu_bytes, bytes); }
  void count_failure() { line_of_thread().add(&Slot::failures, 1); }
  void count_keystream(uint64_t bytes) { line_of_thread().add(&Slot::keystream_bytes, bytes); }
  void count_wasted_keystream(uint64_t bytes) {
    line_of_thread().add(&Slot::keystream_wasted_bytes, bytes);
  }
  void count_rsa_device_key() { line_of_thread().add(&Slot::rsa_device_keys, 1); }
  void count_rsa_cpu_key() { line_of_thread().add(&Slot::rsa_cpu_keys, 1); }
  void count_rsa_device() { line_of_thread().add(&Slot::rsa_device_jobs, 1); }
  void count_rsa_cpu() { line_of_thread().add(&Slot::rsa_cpu_jobs, 1); }
  void count_rsa_failure() { line_of_thread().add(&Slot::rsa_failures, 1); }

  Totals totals() const {
    Totals sum;
    for (const Slot &slot : slots_) {
      sum.device_jobs += slot.device_jobs.load(std::memory_order_relaxed);
      sum.device_bytes += slot.device_bytes.load(std::memory_order_relaxed);
      sum.cpu_jobs += slot.cpu_jobs.load(std::memory_order_relaxed);
      sum.cpu_bytes += slot.cpu_bytes.load(std::memory_order_relaxed);
      sum.cores_bytes += slot.cores_bytes.load(std::memory_order_relaxed);
      sum.failures += slot.failures.load(std::memory_order_relaxed);
      sum.keystream_bytes += slot.keystream_bytes.load(std::memory_order_relaxed);
      sum.keystream_wasted_bytes += slot.keystream_wasted_bytes.load(std::memory_order_relaxed);
      sum.rsa_device_keys += slot.rsa_device_keys.load(std::memory_order_relaxed);
      sum.rsa_cpu_keys += slot.rsa_cpu_keys.load(std::memory_order_relaxed);
      sum.rsa_device_jobs += slot.rsa_device_jobs.load(std::memory_order_relaxed);
      sum.rsa_cpu_jobs += slot.rsa_cpu_jobs.load(std::memory_order_relaxed);
      sum.rsa_failures += slot.rsa_failures.load(std::memory_order_relaxed);
    }
    return sum;
  }

  // A child of fork begins at nothing. There is no lock and only one thread, so it is
  // safe there.
  void clear() {
    for (Slot &slot : slots_) {
      slot.owner.store(0, std::memory_order_relaxed);
      for (auto *counter : {&slot.device_jobs, &slot.device_bytes, &slot.cpu_jobs, &slot.cpu_bytes,
                            &slot.cores_bytes, &slot.failures, &slot.keystream_bytes,
                            &slot.keystream_wasted_bytes, &slot.rsa_device_keys, &slot.rsa_cpu_keys,
                            &slot.rsa_device_jobs, &slot.rsa_cpu_jobs, &slot.rsa_failures})
        counter->store(0, std::memory_order_relaxed);
    }
  }

 private:
  struct Line {
    Slot &slot;
    bool is_own;
    void add(Counter Slot::*which, uint64_t amount) const {
      Counter &counter = slot.*which;
      if (is_own)
        counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
      else
        counter.fetch_add(amount, std::memory_order_relaxed);
    }
  };
  static constexpr size_t kOwned = 16;
  // The number of a thread is the address of its block; these are some KiB apart. A
  // thread that comes after the owner has ended may get the same number, and then owns
  // the line.
  static uint64_t this_thread() {
#if defined(__has_builtin)
#if __has_builtin(__builtin_thread_pointer)
#define LANECRYPT_HAS_THREAD_POINTER
#endif
#endif
#ifdef LANECRYPT_HAS_THREAD_POINTER
    return uint64_t(__builtin_thread_pointer());
#else
    return uint64_t(pthread_self());
#endif
  }
  static size_t slot_of(uint64_t thread) {
    return size_t(((thread >> 12) * 0x9E3779B97F4A7C15u) >> 60);
  }
  Line line_of_thread() {
    const uint64_t thread = this_thread();
    const size_t n = slot_of(thread);
    Slot &slot = slots_[n];
    uint64_t owner = slot.owner.load(std::memory_order_relaxed);
    if (owner == thread || (owner == 0 && slot.owner.compare_exchange_strong(owner, thread)))
      return {slot, true};
    return {slots_[kOwned + n], false};
  }
  std::array<Slot, 2 * kOwned> slots_;
};

}  // namespace lanecrypt::provider
