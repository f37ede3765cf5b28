// All devices of `lanecrypt bench aes` at once, beside one of them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench_data.h"
#include "bench_results.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::cli {

// AES-128-CTR by one job on all of `devices`, which are all that the context has
// selected: `card_bytes` of data on each, and `host_bytes` of pinned host memory. By
// the wall's clock, as are the same jobs on the first of them alone: `card-one.all`
// and `pinned-one.all`. Every output is compared with OpenSSL's; throws Failure
// (kFailed) where one differs, or where a device did nothing.
std::vector<BenchResult> bench_all_devices(const Context &context,
                                           const std::vector<uint32_t> &devices,
                                           uint64_t card_bytes, uint64_t host_bytes,
                                           const Patience &patience, const BenchData &data,
                                           const Wants &wants,
                                           const std::function<void(const std::string &)> &tell);

}  // namespace lanecrypt::cli
