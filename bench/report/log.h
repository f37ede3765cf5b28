// The selection of measurements, the progress line, and the results of a benchmark.
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

// Not thread-safe.
class BenchLog {
 public:
  using Results = std::vector<BenchResult>;

  // The selected names are those that contain one of `only`, or all if that is empty. If `tells` is
  // true, a progress line is shown. `keep` gets all results so far every few seconds, so that
  // little is lost if the process ends.
  BenchLog(std::vector<std::string> only, bool tells, std::function<void(const Results &)> keep);
  // Removes the progress line.
  ~BenchLog();
  BenchLog(const BenchLog &) = delete;
  BenchLog &operator=(const BenchLog &) = delete;

  bool wants(const std::string &name) const;
  // Shows in the progress line what is measured next. All results added before must have been
  // checked, because they may be saved now.
  void tell(const std::string &next);
  // Prints a permanent line on standard error about something that is not measured.
  void note(const std::string &text) const;
  // Runs `measure`. Returns false if the device answers LC_ERROR_UNSUPPORTED, as OpenGL does for
  // XTS; the reason is noted once. Rethrows any other error.
  bool unless_unsupported(const std::function<void()> &measure);

  BenchResult &add(BenchResult result);
  const Results &results() const { return results_; }

 private:
  void show(const std::string &text) const;

  const std::vector<std::string> only_;
  const bool tells_;
  const std::function<void(const Results &)> keep_;
  std::chrono::steady_clock::time_point kept_ = std::chrono::steady_clock::now();
  std::set<std::string> unsupported_;  // the reasons that were noted
  Results results_;
};

}  // namespace lanecrypt::bench
