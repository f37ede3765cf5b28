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
  class alignas(64) Line {
   public:
    // As Counters::count_cpu(), but only for the thread that owns the line. For others it
    // counts nothing and returns false.
    bool count_cpu(uint64_t bytes) {
      if (owner.load(std::memory_order_relaxed) != this_thread()) return false;
      const Access access{*this, true};
      access.add(&Line::cpu_jobs, 1);
      access.add(&Line::cpu_bytes, bytes);
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
  Line &count_cpu(uint64_t bytes) {
    const Access access = access_of_thread();
    access.add(&Line::cpu_jobs, 1);
    access.add(&Line::cpu_bytes, bytes);
    return access.line;
  }
  void count_cores(uint64_t bytes) {
    const Access access = access_of_thread();
    access.add(&Line::cpu_jobs, 1);
    access.add(&Line::cpu_bytes, bytes);
    access.add(&Line::cores_bytes, bytes);
  }
  // The line of this thread, if it has one of its own.
  Line &own_line() { return lines_[line_number(this_thread())]; }
  void count_device(uint64_t device_bytes, uint64_t cpu_bytes) {
    const Access access = access_of_thread();
    access.add(&Line::device_jobs, 1);
    access.add(&Line::device_bytes, device_bytes);
    access.add(&Line::cpu_bytes, cpu_bytes);
  }
  // Counts what the CPU did of a request of which a device did the most.
  void count_cpu_rest(uint64_t bytes) { access_of_thread().add(&Line::cpu_bytes, bytes); }
  void count_failure() { access_of_thread().add(&Line::failures, 1); }
  void count_keystream(uint64_t bytes) { access_of_thread().add(&Line::keystream_bytes, bytes); }
  void count_wasted_keystream(uint64_t bytes) {
    access_of_thread().add(&Line::keystream_wasted_bytes, bytes);
  }
  void count_rsa_device_key() { access_of_thread().add(&Line::rsa_device_keys, 1); }
  void count_rsa_cpu_key() { access_of_thread().add(&Line::rsa_cpu_keys, 1); }
  void count_rsa_device() { access_of_thread().add(&Line::rsa_device_jobs, 1); }
  void count_rsa_cpu() { access_of_thread().add(&Line::rsa_cpu_jobs, 1); }
  void count_rsa_failure() { access_of_thread().add(&Line::rsa_failures, 1); }

  Totals totals() const {
    Totals sum;
    for (const Line &line : lines_) {
      sum.device_jobs += line.device_jobs.load(std::memory_order_relaxed);
      sum.device_bytes += line.device_bytes.load(std::memory_order_relaxed);
      sum.cpu_jobs += line.cpu_jobs.load(std::memory_order_relaxed);
      sum.cpu_bytes += line.cpu_bytes.load(std::memory_order_relaxed);
      sum.cores_bytes += line.cores_bytes.load(std::memory_order_relaxed);
      sum.failures += line.failures.load(std::memory_order_relaxed);
      sum.keystream_bytes += line.keystream_bytes.load(std::memory_order_relaxed);
      sum.keystream_wasted_bytes += line.keystream_wasted_bytes.load(std::memory_order_relaxed);
      sum.rsa_device_keys += line.rsa_device_keys.load(std::memory_order_relaxed);
      sum.rsa_cpu_keys += line.rsa_cpu_keys.load(std::memory_order_relaxed);
      sum.rsa_device_jobs += line.rsa_device_jobs.load(std::memory_order_relaxed);
      sum.rsa_cpu_jobs += line.rsa_cpu_jobs.load(std::memory_order_relaxed);
      sum.rsa_failures += line.rsa_failures.load(std::memory_order_relaxed);
    }
    return sum;
  }

  // A child of fork begins at nothing. There is no lock and only one thread, so it is
  // safe there.
  void clear() {
    for (Line &line : lines_) {
      line.owner.store(0, std::memory_order_relaxed);
      for (auto *counter : {&line.device_jobs, &line.device_bytes, &line.cpu_jobs, &line.cpu_bytes,
                            &line.cores_bytes, &line.failures, &line.keystream_bytes,
                            &line.keystream_wasted_bytes, &line.rsa_device_keys, &line.rsa_cpu_keys,
                            &line.rsa_device_jobs, &line.rsa_cpu_jobs, &line.rsa_failures})
        counter->store(0, std::memory_order_relaxed);
    }
  }

 private:
  // A line as one thread may add to it.
  struct Access {
    Line &line;
    bool is_own;
    void add(Counter Line::*which, uint64_t amount) const {
      Counter &counter = line.*which;
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
  static size_t line_number(uint64_t thread) {
    return size_t(((thread >> 12) * 0x9E3779B97F4A7C15u) >> 60);
  }
  Access access_of_thread() {
    const uint64_t thread = this_thread();
    const size_t n = line_number(thread);
    Line &line = lines_[n];
    uint64_t owner = line.owner.load(std::memory_order_relaxed);
    if (owner == thread || (owner == 0 && line.owner.compare_exchange_strong(owner, thread)))
      return {line, true};
    return {lines_[kOwned + n], false};
  }
  std::array<Line, 2 * kOwned> lines_;
};

}  // namespace lanecrypt::provider
