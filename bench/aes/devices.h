// The devices that a benchmark uses, and the rate of all of them together compared with one.
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

// Returns index and name of each selected device that passes its self-test. The name is the one
// in results: "cuda" for the first device of its API, "cuda-1" for the second. Devices that fail
// the self-test are named on stderr.
std::vector<std::pair<uint32_t, std::string>> usable_devices(const Context &context, BenchLog &log);

// Measures AES-128-CTR in one job on all of `devices`, which must be all that the context has
// selected: `card_bytes` of data in the memory of each, and `host_bytes` of pinned host memory
// (0: skipped). Times are wall clock times. Measures the same jobs on the first device only
// (`card-one.all`, `pinned-one.all`) and adds the ratio of the two (`card-over-one.all`,
// `pinned-over-one.all`). Compares every output with OpenSSL's. Throws Failure (kFailed) if one
// differs, or if a device did nothing.
void bench_all_devices(const Context &context, const std::vector<uint32_t> &devices,
                       uint64_t card_bytes, uint64_t host_bytes, const Patience &patience,
                       const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
