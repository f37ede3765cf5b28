// `lanecrypt bench hash`: hashes of many messages and of large ones, on each device and by
// OpenSSL.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Every digest is compared with the CPU's. Throws Failure (kFailed) if one differs, or if not
// all were made by the device.
void bench_hash(const Context &context, bool quick, BenchLog &log);

}  // namespace lanecrypt::bench
