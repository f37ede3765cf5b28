// A line on the terminal that shows the progress of the work.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace lanecrypt::cli {

// Returns a text such as "1.20 of 4.00 GB", in the unit that suits the larger number; "1.20 GB"
// without a total.
std::string format_amount(uint64_t done_bytes, std::optional<uint64_t> total_bytes);
// Returns a text such as "0:07", "12:34" or "1:02:03".
std::string format_duration(double seconds);

// The state that worker threads update and ProgressLine shows. Thread-safe.
class Progress {
 public:
  void add(uint64_t bytes) { done_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  uint64_t done_bytes() const { return done_bytes_.load(std::memory_order_relaxed); }
  void set_device(std::string name);
  std::string device() const;

 private:
  std::atomic<uint64_t> done_bytes_{0};
  mutable std::mutex mutex_;
  std::string device_ = "starting";
};

// While a ProgressLine exists, its thread redraws a line on standard error; the destructor clears
// the line. Does nothing if `wanted` is false or standard error is not a terminal.
class ProgressLine {
 public:
  ProgressLine(const Progress &progress, std::optional<uint64_t> total_bytes, bool wanted);
  ~ProgressLine();

 private:
  void draw() const;

  const Progress &progress_;
  std::optional<uint64_t> total_bytes_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread drawer_;
};

}  // namespace lanecrypt::cli
