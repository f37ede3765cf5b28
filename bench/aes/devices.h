// The devices of a benchmark, and the speed-up of all devices over one.
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

// Returns the selected devices that pass their self-tests, by index, and their names in results:
// "cuda" for the first of its API, "cuda-1" for the second. Prints the others on standard error.
std::vector<std::pair<uint32_t, std::string>> usable_devices(const Context &context, BenchLog &log);

// Measures AES-128-CTR with one job on all of `devices`, which must be all selected devices of the
// context: `card_bytes` of data on each device, and `host_bytes` of pinned host memory (0: not
// measured). Times are wall-clock times. For comparison it measures the same jobs on only the first
// device, `card-one.all` and `pinned-one.all`, and the speed-ups `card-over-one.all` and
// `pinned-over-one.all`. Compares every output with OpenSSL's. Throws Failure (kFailed) if one
// differs, or if a device did nothing.
void bench_all_devices(const Context &context, const std::vector<uint32_t> &devices,
                       uint64_t card_bytes, uint64_t host_bytes, const Patience &patience,
                       const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
