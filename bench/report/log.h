// What a benchmark is asked for, what it says meanwhile, and what it finds.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "bench/report/results.h"

namespace lanecrypt::cli {

// For one thread.
class BenchLog {
 public:
  using Results = std::vector<BenchResult>;

  // Wanted are the names that have one of `only` in them, or all where that is empty.
  // `tells`: whether a progress line is shown. `keep` is given all results so far,
  // every few seconds, so that little is lost with the process.
  BenchLog(std::vector<std::string> only, bool tells, std::function<void(const Results &)> keep);
  // Takes the progress line away.
  ~BenchLog();
  BenchLog(const BenchLog &) = delete;
  BenchLog &operator=(const BenchLog &) = delete;

  bool wants(const std::string &name) const;
  // What is measured next, for the progress line. What was added before must have been
  // checked by now: it may be kept.
  void tell(const std::string &next);
  // A line to stderr that stays: what a person should know of what is not measured.
  void note(const std::string &text) const;
  // Runs `measure`. False where the device answers LC_ERROR_UNSUPPORTED, as one of
  // OpenGL does to XTS: its reason is noted, once. Any other error is thrown on.
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

}  // namespace lanecrypt::cli
