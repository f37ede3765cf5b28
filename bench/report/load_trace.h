// How much CPU time this process takes, and how much electricity the cards take, while
// something runs.
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

// Electricity, by NVIDIA's management library (NVML), which is opened when the process
// runs, as every driver.
class PowerMeter {
 public:
  PowerMeter();
  ~PowerMeter();
  PowerMeter(const PowerMeter &) = delete;
  PowerMeter &operator=(const PowerMeter &) = delete;

  // Empty, or the reason why it gives no figure.
  const std::string &why_not() const { return why_not_; }
  // The sum for all cards of the machine; 0 if it gives no figure.
  double watts() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::string why_not_;
};

// Samples from a thread of its own while it lives.
class LoadTrace {
 public:
  LoadTrace(const PowerMeter &meter, double interval_seconds);
  ~LoadTrace();
  LoadTrace(const LoadTrace &) = delete;
  LoadTrace &operator=(const LoadTrace &) = delete;

  // Ends it.
  void stop();
  // Per cent of one core, between each sample and the one before.
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
