// `lanecrypt bench timing`: whether the time of a kernel depends on keys or data.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Measures every mode on each ready device, and both directions if they have separate kernels.
// It launches two kinds of jobs in random order and compares their times by the device's clock:
//   timing-keys     one fixed key against one of 10,000 random keys
//   timing-data     blocks that are all equal, so that every thread looks up the same table
//                   entries, against blocks that all differ
//   timing-control  the launches with the fixed key, split at random into two halves
// A row `-t` has Welch's t. It is computed for all samples and for the fastest 50 to 99 %; the
// row has the t farthest from 0, and the least and the most. An absolute t below 4.5 means that
// no difference was found. A row `-ns` has the difference of the means of the fastest 95 %, with
// the two means as min and max.
//   timing-runs-ns  the noise: the launches with the fixed key and equal blocks are cut into ten
//                   runs; the row has the largest difference of the means of consecutive runs
// `launches` is the number of launches of a case; without it, a number that suits the device.
// If LANECRYPT_AES_FORM is set, its value is in front of the device's name in the rows.
void bench_timing(const Context &context, bool quick, std::optional<unsigned> launches,
                  BenchLog &log);

}  // namespace lanecrypt::bench
