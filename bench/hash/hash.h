// `lanecrypt bench hash`: hashes of many messages and of large ones, on each device and by
// OpenSSL.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Compares every digest with the CPU's. Throws Failure (kFailed) if one differs, or if the device
// did not compute all of them.
void bench_hash(const Context &context, bool quick, BenchLog &log);

}  // namespace lanecrypt::bench
