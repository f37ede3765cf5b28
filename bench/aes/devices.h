// The devices of a benchmark, and all of them at once beside one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/load/data.h"
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::cli {

// The selected devices that pass their self-tests, by index, and what the results
// call them: "cuda" for the first of its API, "cuda-1" for the second. stderr hears of
// the others.
std::vector<std::pair<uint32_t, std::string>> usable_devices(const Context &context, BenchLog &log);

// AES-128-CTR by one job on all of `devices`, which are all that the context has
// selected: `card_bytes` of data on each, and `host_bytes` of pinned host memory. By
// the wall's clock, as are the same jobs on the first of them alone: `card-one.all`
// and `pinned-one.all`; and how many times as fast all are, `card-over-one.all` and
// `pinned-over-one.all`. Without `host_bytes` nothing of host memory. Every output is compared with
// OpenSSL's; throws Failure (kFailed) where one differs, or where a device did nothing.
void bench_all_devices(const Context &context, const std::vector<uint32_t> &devices,
                       uint64_t card_bytes, uint64_t host_bytes, const Patience &patience,
                       const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::cli
