// What a benchmark is asked to measure, its progress, and its results.
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

  // A row is wanted if its name contains one of `only`, or if `only` is empty. `tells` says
  // whether a progress line is shown. `keep` is called every few seconds with all results so far,
  // so that little is lost if the process ends early.
  BenchLog(std::vector<std::string> only, bool tells, std::function<void(const Results &)> keep);
  // Removes the progress line.
  ~BenchLog();
  BenchLog(const BenchLog &) = delete;
  BenchLog &operator=(const BenchLog &) = delete;

  bool wants(const std::string &name) const;
  // Shows in the progress line what is measured next. Results that were added before must have
  // been checked by now, because `keep` may write them.
  void tell(const std::string &next);
  // Writes a line to stderr that stays, such as about something that is not measured.
  void note(const std::string &text) const;
  // Runs `measure`. Returns false if the device answers LC_ERROR_UNSUPPORTED, such as an OpenGL
  // device for XTS; the reason is noted once. Rethrows any other error.
  bool unless_unsupported(const std::function<void()> &measure);

  BenchResult &add(BenchResult result);
  const Results &results() const { return results_; }

 private:
  void show(const std::string &text) const;

  const std::vector<std::string> only_;
  const bool tells_;
  const std::function<void(const Results &)> keep_;
  std::chrono::steady_clock::time_point kept_ = std::chrono::steady_clock::now();
  std::set<std::string> unsupported_;  // reasons that have been noted
  Results results_;
};

}  // namespace lanecrypt::bench
