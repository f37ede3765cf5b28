// Times batches by the wall clock. Half of the batches have one fixed key and half any of many;
// half have equal data and half random data. See compare_times.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "bench/report/results.h"

namespace lanecrypt::bench {

class BatchTiming {
 public:
  // Both kinds use the same number of buffers, so that caches treat them alike. Numbers below
  // kPlaces belong to the fixed kind, the next kPlaces to the varied kind.
  static constexpr size_t kPlaces = 16;
  using Step = std::function<void(size_t key, size_t data)>;

  // `where` is the last part of the rows' names.
  BatchTiming(std::string where, unsigned launches);

  // In each round calls prepare() and then run(), which is timed, both with the number of a key
  // and the number of data. Adds the rows of compare_times().
  void measure(const std::string &name, const Step &prepare, const Step &run);

  std::mt19937_64 &random() { return random_; }
  std::vector<BenchResult> &results() { return results_; }

 private:
  const std::string where_;
  const unsigned launches_;
  std::mt19937_64 random_;
  std::vector<BenchResult> results_;
};

}  // namespace lanecrypt::bench
