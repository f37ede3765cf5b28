// `lanecrypt bench timing`: whether the time of a kernel tells of keys or data.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench_results.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::cli {

// For each mode of AES on each ready device: Welch's t between launches of two
// kinds, by the device's clock and in random order:
//   timing-keys     one key, or one of 10,000 random keys
//   timing-data     blocks that are all equal, so that every lane looks up the
//                   same, or blocks that all differ
//   timing-control  two halves of those with one key
// with the difference of the means in nanoseconds, and the two means as min and
// max. An absolute t below 4.5 is no difference.
std::vector<BenchResult> bench_timing(const Context &context, bool quick,
                                      const std::function<void(const std::string &)> &tell);

}  // namespace lanecrypt::cli
