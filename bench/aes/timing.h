// `lanecrypt bench timing`: whether the time of a kernel tells of keys or data.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// For every mode on each ready device, in both directions where these have kernels of
// their own: whether two kinds of launches, in random order, differ in their time by
// the device's clock:
//   timing-keys     one key, or one of 10,000 random keys
//   timing-data     blocks that are all equal, so that every lane looks up the
//                   same, or blocks that all differ
//   timing-control  those with one key, in two halves by lot
// with `-t`, Welch's t, once of all samples and of the fastest 99 to 50 %: of these
// the farthest from 0, and the least and most; an absolute t below 4.5 is no
// difference. And `-ns`, the difference of the means of the fastest 95 %, with the
// two means as min and max.
//   timing-runs-ns  the noise: launches of one key with equal blocks, in ten runs;
//                   how far the means of two that follow each other differ
// `launches` of each; where not given, as many as suit the device. The name of the
// device has that of LANECRYPT_AES_FORM before it, where that is set.
void bench_timing(const Context &context, bool quick, std::optional<unsigned> launches,
                  BenchLog &log);

}  // namespace lanecrypt::bench
