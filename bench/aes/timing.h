// `lanecrypt bench timing`: tests whether the time of a kernel depends on keys or data.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// For every mode on each ready device, and for both directions if these have separate kernels,
// tests whether two kinds of launches, in random order, differ in their time by the device's clock:
//   timing-keys     one key, or one of 10,000 random keys
//   timing-data     blocks that are all equal, so that every thread looks up the
//                   same, or blocks that all differ
//   timing-control  launches with one key, divided at random into two halves
// `-t` is Welch's t, computed from all samples and from the fastest 99 to 50 %: the value farthest
// from 0, and the least and the most. An absolute t below 4.5 is no difference. `-ns` is the
// difference of the means of the fastest 95 %, with the two means as min and max.
//   timing-runs-ns  the noise: launches of one key with equal blocks, in ten runs;
//                   how far the means of two consecutive runs differ
// `launches` is the number of launches of each kind; if it is not given, as many as suit the
// device. In the names of results, the device is preceded by LANECRYPT_AES_FORM, if that is set.
void bench_timing(const Context &context, bool quick, std::optional<unsigned> launches,
                  BenchLog &log);

}  // namespace lanecrypt::bench
