// Tests whether the times of a kernel distinguish one kind of keys or data from another: Welch's
// t-test, as in dudect.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <span>
#include <string>
#include <vector>

#include "bench/report/results.h"

namespace lanecrypt::bench {

// One launch, with the fixed key or any of many, and with equal or varied data. Both kinds are
// chosen at random for each launch.
struct TimedLaunch {
  double ns = 0;
  bool key_varies = false, data_varies = false;
};

// Returns these results, with names of the form `name`.timing-...:
//   keys-t, keys-ns        the two kinds of keys: the t farthest from 0 over several crops, with
//                          the least and the most; the difference of the means
//   data-t, data-ns        the same for the two kinds of data
//   control-t, control-ns  the same for launches with the fixed key, split at random by `random`
//   runs-ns                the largest difference of the means of two consecutive runs of one
//                          kind
// An absolute t below 4.5 means that no difference was found. The caller appends the device's
// name.
std::vector<BenchResult> compare_times(const std::string &name,
                                       std::span<const TimedLaunch> launches,
                                       std::mt19937_64 &random);

}  // namespace lanecrypt::bench
