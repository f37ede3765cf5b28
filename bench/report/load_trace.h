// Records the CPU time of this process and the electric power of the GPUs while something runs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench/report/results.h"

namespace lanecrypt::bench {

// Measures power through NVIDIA's management library (NVML), which is loaded at run time, like
// every driver.
class PowerMeter {
 public:
  PowerMeter();
  ~PowerMeter();
  PowerMeter(const PowerMeter &) = delete;
  PowerMeter &operator=(const PowerMeter &) = delete;

  // Empty, or the reason why there is no figure.
  const std::string &why_not() const { return why_not_; }
  // The sum over all GPUs of the machine, or 0 if there is no figure.
  double watts() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::string why_not_;
};

// Takes samples on its own thread while it lives.
class LoadTrace {
 public:
  LoadTrace(const PowerMeter &meter, double interval_seconds);
  ~LoadTrace();
  LoadTrace(const LoadTrace &) = delete;
  LoadTrace &operator=(const LoadTrace &) = delete;

  // Stops the sampling.
  void stop();
  // The CPU use between each sample and the one before, in per cent of one core.
  const Series &cpu() const { return cpu_; }
  const Series &watts() const { return watts_; }

 private:
  void sample();

  const PowerMeter &meter_;
  const double interval_seconds_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  Series cpu_, watts_;
  std::thread sampler_;
};

}  // namespace lanecrypt::bench
