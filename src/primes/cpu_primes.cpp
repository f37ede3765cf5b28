// Tests prime candidates with OpenSSL's big numbers, on threads of the CPU.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "cpu/rsa/prime_key.h"
#include "primes/prime_tester.h"
#include "process/thread.h"
#include "secure/key_memory.h"

namespace lanecrypt::runtime {
namespace {

class CpuPrimes : public PrimeTester {
 public:
  explicit CpuPrimes(unsigned threads) : threads_(std::max(threads, 1u)) {}

  // Some milliseconds of work for each thread.
  size_t most_trials(uint32_t bits) const override {
    return threads_ * (bits <= 1024 ? 16 : bits <= 2048 ? 4 : 1);
  }

  Status reserve(uint32_t bits, size_t candidates, size_t trials) override {
    const size_t stride = cpu::prime_stride_bytes(bits);
    LC_TRY(grow(candidates_, candidates * stride));
    return grow(bases_, trials * stride);
  }
  std::span<uint8_t> candidates() override { return {candidates_.data(), candidates_.size()}; }
  std::span<uint8_t> bases() override { return {bases_.data(), bases_.size()}; }

  Status sieve(const std::shared_ptr<const cpu::SieveTable> &table, size_t count,
               std::span<uint8_t> survives) override {
    // A candidate takes microseconds, so each thread gets some hundreds.
    return on_threads(count, 256, [&](size_t n) {
      survives[n] = cpu::survives(*table, candidates_.data() + n * table->stride_bytes) ? 1 : 0;
      return Status();
    });
  }

  Status test(uint32_t bits, std::span<const uint32_t> trials, std::span<uint8_t> passed) override {
    const size_t stride = cpu::prime_stride_bytes(bits);
    return on_threads(trials.size(), 1, [&](size_t n) {
      Result<bool> passes = cpu::passes_round({candidates_.data() + trials[n] * stride, stride},
                                              {bases_.data() + n * stride, stride});
      if (!passes.ok()) return passes.status();
      passed[n] = *passes ? 1 : 0;
      return Status();
    });
  }

  void forget() override {
    secure::wipe(candidates_.data(), candidates_.size());
    secure::wipe(bases_.data(), bases_.size());
  }

 private:
  static Status grow(secure::KeyMemory &memory, size_t bytes) {
    if (memory.ok(bytes)) return Status();
    memory = secure::KeyMemory(bytes);
    return memory.ok(bytes) ? Status() : Status(LC_ERROR_MEMORY, "no memory for candidates");
  }

  // Calls work(n) for all n < count, on as many threads as each get at least `least` calls.
  template <typename Work>
  Status on_threads(size_t count, size_t least, const Work &work) const {
    std::atomic<size_t> next{0};
    std::mutex mutex;
    Status failure;
    const auto run = [&] {
      for (size_t n; (n = next++) < count;) {
        Status status = guarded([&] { return work(n); });
        if (status.ok()) continue;
        next = count;
        const std::lock_guard lock(mutex);
        failure = std::move(status);
      }
    };
    std::vector<std::thread> others;
    try {
      others.reserve(threads_);  // push_back() must not fail for a running thread
      for (size_t n = 1; n < threads_ && n * least < count; ++n)
        others.push_back(process::start_thread(run));
    } catch (const std::exception &) {
      // The threads that could be started do all the work.
    }
    run();
    for (std::thread &other : others) other.join();
    return failure;
  }

  const unsigned threads_;
  secure::KeyMemory candidates_, bases_;
};

}  // namespace

std::unique_ptr<PrimeTester> make_cpu_primes(unsigned threads) {
  return std::make_unique<CpuPrimes>(threads);
}

}  // namespace lanecrypt::runtime
