// Times batches by the wall clock: half of them with one key and half with any of many, and half
// with equal data and half with random data. See compare_times.h.
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
  // Both kinds use the same number of slots, so that caches affect them alike: the slots below
  // kPlaces have the kind that is all equal, the next kPlaces the other kind.
  static constexpr size_t kPlaces = 16;
  using Step = std::function<void(size_t key, size_t data)>;

  // `where` is the last part of the rows' names.
  BatchTiming(std::string where, unsigned launches);

  // Calls prepare() and then run(), which is timed, with the slots of a key and of data. Adds the
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
