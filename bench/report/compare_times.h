// Tests whether the times of a kernel distinguish one kind of keys or data from another, with
// Welch's t as in dudect.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <span>
#include <string>
#include <vector>

#include "bench/report/results.h"

namespace lanecrypt::bench {

// One launch, with one key or any of many, and with equal or varied data. Both kinds are chosen at
// random for each launch.
struct TimedLaunch {
  double ns = 0;
  bool key_varies = false, data_varies = false;
};

// Results in the order of their importance, with names in the form `name`.timing-...:
//   keys-t, keys-ns        the two kinds of keys: the largest t over several crops,
//                          with the least and the most; the difference of the means
//   data-t, data-ns        the two kinds of data
//   control-t, control-ns  launches of one key, divided by coin tosses of `random`
//   runs-ns                how far apart the means of one kind are in two consecutive
//                          runs, at most
// An absolute t below 4.5 is no difference. The names lack the device.
std::vector<BenchResult> compare_times(const std::string &name,
                                       std::span<const TimedLaunch> launches,
                                       std::mt19937_64 &random);

}  // namespace lanecrypt::bench
