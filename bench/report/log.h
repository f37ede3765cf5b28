// What a benchmark is asked for, what it says while it runs, and what it finds.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "bench/report/results.h"

namespace lanecrypt::bench {

// For one thread.
class BenchLog {
 public:
  using Results = std::vector<BenchResult>;

  // The wanted names are those that contain one of `only`, or all if that is empty.
  // `tells`: whether a progress line is shown. `keep` gets all results so far every few
  // seconds, so that little is lost with the process.
  BenchLog(std::vector<std::string> only, bool tells, std::function<void(const Results &)> keep);
  // Removes the progress line.
  ~BenchLog();
  BenchLog(const BenchLog &) = delete;
  BenchLog &operator=(const BenchLog &) = delete;

  bool wants(const std::string &name) const;
  // Says in the progress line what is measured next. What was added before must have been
  // checked by now: it may be kept.
  void tell(const std::string &next);
  // A line to stderr that stays, about something that is not measured.
  void note(const std::string &text) const;
  // Runs `measure`. False if the device answers LC_ERROR_UNSUPPORTED, as one of OpenGL
  // does to XTS: its reason is noted once. Any other error is thrown on.
  bool unless_unsupported(const std::function<void()> &measure);

  BenchResult &add(BenchResult result);
  const Results &results() const { return results_; }

 private:
  void show(const std::string &text) const;

  const std::vector<std::string> only_;
  const bool tells_;
  const std::function<void(const Results &)> keep_;
  std::chrono::steady_clock::time_point kept_ = std::chrono::steady_clock::now();
  std::set<std::string> unsupported_;  // what was noted of it
  Results results_;
};

}  // namespace lanecrypt::bench
