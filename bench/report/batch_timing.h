// Times batches of which half have one key and half any of many, and half equal data and half
// random data, by the clock of the wall: see compare_times.h.
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
  // Both kinds come from the same number of places, so that caches serve them alike: places below
  // kPlaces are of the kind that is all alike, the next kPlaces of the other.
  static constexpr size_t kPlaces = 16;
  using Step = std::function<void(size_t key, size_t data)>;

  // where: the last part of the rows' names.
  BatchTiming(std::string where, unsigned launches);

  // Calls prepare() and then run(), which is timed, with the places of a key and of data. Adds the
  // rows of compare_times().
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
