// The devices of a benchmark, and the rate of all of them over that of one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/load/data.h"
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// The selected devices that pass their self-tests, by index, and their names in results:
// "cuda" for the first of its API, "cuda-1" for the second. The others are named on
// stderr.
std::vector<std::pair<uint32_t, std::string>> usable_devices(const Context &context, BenchLog &log);

// AES-128-CTR by one job on all of `devices`, which must be all that the context has
// selected: `card_bytes` of data on each, and `host_bytes` of pinned host memory (0: none
// of that). Times are by the wall's clock. Beside it the same jobs on the first device
// only, `card-one.all` and `pinned-one.all`, and how many times as fast all are,
// `card-over-one.all` and `pinned-over-one.all`. Every output is compared with OpenSSL's.
// Throws Failure (kFailed) if one differs, or if a device did nothing.
void bench_all_devices(const Context &context, const std::vector<uint32_t> &devices,
                       uint64_t card_bytes, uint64_t host_bytes, const Patience &patience,
                       const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
