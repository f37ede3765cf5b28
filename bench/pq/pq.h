// `lanecrypt bench pq`: signatures that withstand quantum computers, on each device and by
// OpenSSL. A file for each family.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Throws Failure (kFailed) if an operation fails.
void bench_ml_dsa(const Context &context, bool quick, BenchLog &log);
void bench_slh_dsa(const Context &context, bool quick, BenchLog &log);

}  // namespace lanecrypt::bench
