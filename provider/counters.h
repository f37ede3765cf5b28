// The provider's counters, which its gettable parameters and the statistics file report.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <iterator>

namespace lanecrypt::provider {

// Count numbers the counters in the order of the statistics file.
enum class Count : uint8_t {
  kDeviceJobs,   // requests of which at least a part ran on a device
  kDeviceBytes,  // bytes that ran on devices
  kCpuJobs,      // requests of which no part ran on a device
  kCpuBytes,     // bytes that ran on the CPU
  kCoresBytes,   // the part of kCpuBytes that several cores processed in parallel
  kFailures,     // requests that were meant for a device and failed there
  // RSA keys that were generated.
  kRsaDeviceKeys,
  kRsaCpuKeys,
  // RSA private-key operations. kRsaServiceJobs is the part of kRsaDeviceJobs that the service did.
  // kRsaFailures counts failed operations and failed key generations.
  kRsaDeviceJobs,
  kRsaServiceJobs,
  kRsaCpuJobs,
  kRsaFailures,
  // ML-DSA signatures, counted in the same way.
  kMlDsaDeviceJobs,
  kMlDsaServiceJobs,
  kMlDsaCpuJobs,
  kMlDsaFailures,
  // SLH-DSA key generations and signatures, counted in the same way. kSlhDsaFailures counts both.
  kSlhDsaDeviceKeys,
  kSlhDsaCpuKeys,
  kSlhDsaDeviceJobs,
  kSlhDsaServiceJobs,
  kSlhDsaCpuJobs,
  kSlhDsaFailures,
};

// CountRow names a counter. A new counter needs a value in Count and a row in kCounts.
struct CountRow {
  Count count;
  const char *in_file, *param;
  // True if the statistics line of a forked child is written once this counter is not 0.
  bool is_work = false;
};
inline constexpr CountRow kCounts[] = {
    {Count::kDeviceJobs, "device_jobs", "lanecrypt.device-jobs", true},
    {Count::kDeviceBytes, "device_bytes", "lanecrypt.device-bytes"},
    {Count::kCpuJobs, "cpu_jobs", "lanecrypt.cpu-jobs", true},
    {Count::kCpuBytes, "cpu_bytes", "lanecrypt.cpu-bytes"},
    {Count::kCoresBytes, "cores_bytes", "lanecrypt.cores-bytes"},
    {Count::kFailures, "failures", "lanecrypt.failures", true},
    {Count::kRsaDeviceKeys, "rsa_device_keys", "lanecrypt.rsa-device-keys", true},
    {Count::kRsaCpuKeys, "rsa_cpu_keys", "lanecrypt.rsa-cpu-keys", true},
    {Count::kRsaDeviceJobs, "rsa_device_jobs", "lanecrypt.rsa-device-jobs", true},
    {Count::kRsaServiceJobs, "rsa_service_jobs", "lanecrypt.rsa-service-jobs"},
    {Count::kRsaCpuJobs, "rsa_cpu_jobs", "lanecrypt.rsa-cpu-jobs", true},
    {Count::kRsaFailures, "rsa_failures", "lanecrypt.rsa-failures"},
    {Count::kMlDsaDeviceJobs, "ml_dsa_device_jobs", "lanecrypt.ml-dsa-device-jobs", true},
    {Count::kMlDsaServiceJobs, "ml_dsa_service_jobs", "lanecrypt.ml-dsa-service-jobs"},
    {Count::kMlDsaCpuJobs, "ml_dsa_cpu_jobs", "lanecrypt.ml-dsa-cpu-jobs", true},
    {Count::kMlDsaFailures, "ml_dsa_failures", "lanecrypt.ml-dsa-failures"},
    {Count::kSlhDsaDeviceKeys, "slh_dsa_device_keys", "lanecrypt.slh-dsa-device-keys", true},
    {Count::kSlhDsaCpuKeys, "slh_dsa_cpu_keys", "lanecrypt.slh-dsa-cpu-keys", true},
    {Count::kSlhDsaDeviceJobs, "slh_dsa_device_jobs", "lanecrypt.slh-dsa-device-jobs", true},
    {Count::kSlhDsaServiceJobs, "slh_dsa_service_jobs", "lanecrypt.slh-dsa-service-jobs"},
    {Count::kSlhDsaCpuJobs, "slh_dsa_cpu_jobs", "lanecrypt.slh-dsa-cpu-jobs", true},
    {Count::kSlhDsaFailures, "slh_dsa_failures", "lanecrypt.slh-dsa-failures"},
};
inline constexpr size_t kCountCount = std::size(kCounts);

constexpr bool counts_are_in_order() {
  for (size_t n = 0; n < kCountCount; ++n)
    if (kCounts[n].count != Count(n)) return false;
  return true;
}
static_assert(counts_are_in_order());

// Totals is indexed by Count.
using Totals = std::array<uint64_t, kCountCount>;

// Counters is thread-safe. Small requests are frequent and short, and an atomic addition to a cache
// line that threads share takes as long as the smallest of them. Therefore the first thread that
// uses a line owns it, and only that thread adds to it, without a read-modify-write. Threads whose
// line is owned by another thread share a second set of lines.
class Counters {
  using Counter = std::atomic<uint64_t>;

 public:
  // Line is one set of counters. Code that counts often keeps a pointer to its line and tries that
  // first.
  class alignas(64) Line {
   public:
    // Line::count_cpu() does the same as Counters::count_cpu(), but only if the calling thread owns
    // the line. Otherwise it counts nothing and returns false.
    bool count_cpu(uint64_t bytes) {
      if (owner.load(std::memory_order_relaxed) != this_thread()) return false;
      const Access access{*this, true};
      access.add(Count::kCpuJobs, 1);
      access.add(Count::kCpuBytes, bytes);
      return true;
    }

   private:
    friend class Counters;
    Counter owner{0};                           // the owning thread; 0 for a shared line
    std::array<Counter, kCountCount> counts{};  // indexed by Count
  };

  void count(Count which, uint64_t amount = 1) { access_of_thread().add(which, amount); }

  // count_cpu() counts a request that the CPU did, and returns the line that it used.
  Line &count_cpu(uint64_t bytes) {
    const Access access = access_of_thread();
    access.add(Count::kCpuJobs, 1);
    access.add(Count::kCpuBytes, bytes);
    return access.line;
  }
  // count_cores() counts a request that several cores did.
  void count_cores(uint64_t bytes) {
    const Access access = access_of_thread();
    access.add(Count::kCpuJobs, 1);
    access.add(Count::kCpuBytes, bytes);
    access.add(Count::kCoresBytes, bytes);
  }
  // own_line() returns the line that the calling thread owns, if it owns one.
  Line &own_line() { return lines_[line_number(this_thread())]; }
  // count_device() counts a request of which a device did `device_bytes`, and the CPU the rest.
  void count_device(uint64_t device_bytes, uint64_t cpu_bytes) {
    const Access access = access_of_thread();
    access.add(Count::kDeviceJobs, 1);
    access.add(Count::kDeviceBytes, device_bytes);
    access.add(Count::kCpuBytes, cpu_bytes);
  }

  // totals() returns the sums over all threads.
  Totals totals() const {
    Totals sum{};
    for (const Line &line : lines_)
      for (size_t n = 0; n < kCountCount; ++n)
        sum[n] += line.counts[n].load(std::memory_order_relaxed);
    return sum;
  }

  // clear() sets all counters to 0. A child of fork() calls it. It takes no lock, and the child has
  // only one thread, so it is safe there.
  void clear() {
    for (Line &line : lines_) {
      line.owner.store(0, std::memory_order_relaxed);
      for (Counter &counter : line.counts) counter.store(0, std::memory_order_relaxed);
    }
  }

 private:
  // Access is a line, together with whether the calling thread owns it.
  struct Access {
    Line &line;
    bool is_own;
    void add(Count which, uint64_t amount) const {
      Counter &counter = line.counts[size_t(which)];
      if (is_own)
        counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
      else
        counter.fetch_add(amount, std::memory_order_relaxed);
    }
  };
  static constexpr size_t kOwned = 16;
  // this_thread() identifies a thread by the address of its thread control block; these are some
  // KiB apart. A later thread may get the same address after the owner has ended. It then owns the
  // line.
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
  // access_of_thread() returns the thread's own line, which it takes if it has no owner, or else a
  // shared line.
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
