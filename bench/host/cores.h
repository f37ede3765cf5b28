// The rows of `lanecrypt bench host` for the library on several CPU cores.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/load/data.h"
#include "bench/report/log.h"

namespace lanecrypt::bench {

// Measures one job over `bytes` of ordinary memory in pages of 4 KiB, in place and out of place,
// by OpenSSL in one call and by lc_run() with LC_CPU.
void bench_host_cores(uint64_t bytes, unsigned runs, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
